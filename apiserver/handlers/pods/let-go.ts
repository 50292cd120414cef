import { placements } from '../../../cluster/names.ts';
import { isBeingOrphaned, isTombstone } from '../../../cluster/orphans.ts';
import { placementName } from '../../../cluster/placement.ts';
import type { Placement } from '../../../cluster/types.ts';
import { sleep } from '../../../kube/clock.ts';
import { parseApiVersion } from '../../../kube/gvk.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError, StatusError } from '../../../kube/status.ts';
import { at, listAt, textAt } from '../../../kube/untyped.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { jsonOf, whole } from './answer.ts';

const letGoMs = 10_000;
const againMs = 100;

/** What workloads make that their controllers replace. */
const made: ReadonlySet<string> = new Set(['Pod', 'ReplicaSet', 'Job']);

interface Owner {
  group: string;
  kind: string;
  name: string;
}

export interface Connection {
  transport: Transport;
  path: string;
}

/**
 * Where it runs, what an owner leaves behind that is orphaned is that one's for a moment longer: deleted by then, it would
 * be made anew by the owner's controller, and stay. Resolves once its cluster has let it go; fails where that takes
 * long, or whoever asks has gone by then. What our own controllers delete goes with its namespace, whatever is made anew of it.
 */
export async function untilLetGo(
  exchange: ResourceExchange,
  object: KubeObject,
  connection: Connection,
): Promise<void> {
  const { core, request, user } = exchange;
  if (isOwnController(user)) return;
  const signal = request.signal ?? core.closing;
  const end = Date.now() + letGoMs;
  for (;;) {
    const owner = await ownerThatLeaves(exchange, object, connection);
    if (!owner) return;
    if (signal.aborted || Date.now() > end) throw notLetGo(owner);
    await sleep(againMs, signal);
  }
}

/** Who was orphaned, or is being, and owns it there. */
export async function ownerThatLeaves(
  exchange: ResourceExchange,
  object: KubeObject,
  connection: Connection,
): Promise<Owner | undefined> {
  const { kind, metadata } = object;
  if (!made.has(kind)) return undefined;
  const { namespace = '', ownerReferences } = metadata;
  const here = ownerReferences?.find(({ controller }) => controller === true);
  if (here && !(await isLeaving(exchange, namespace, ownerOf(here)))) return undefined;
  const there = await ownerThere(connection, exchange.request.signal);
  return there && (await isLeaving(exchange, namespace, there)) ? there : undefined;
}

async function isLeaving(
  { core, info: { cluster } }: ResourceExchange,
  namespace: string,
  { group, kind, name }: Owner,
): Promise<boolean> {
  const of = core.catalog.infos(cluster).find((one) => one.group === group && one.kind === kind);
  if (!of) return false;
  const { resource } = of;
  const read = (at: { group: string; resource: string; name: string }) =>
    core.registry.get({ cluster, namespace, ...at }).catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    });
  const owner = await read({ group, resource, name });
  if (owner) return isBeingOrphaned(owner);
  const placement = await read({ ...placements, name: placementName({ group, resource, name }) });
  return placement !== undefined && isTombstone(placement as Placement);
}

/** Undefined also where there is no answer about it: its deletion says why. */
async function ownerThere({ transport, path }: Connection, signal?: AbortSignal): Promise<Owner | undefined> {
  const headers = { accept: 'application/json' };
  const request = { method: 'GET', url: path, headers, ...(signal && { signal }) };
  const object = jsonOf(await whole(await transport(request)));
  const owner = listAt(object, 'metadata', 'ownerReferences').find((one) => at(one, 'controller') === true);
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((of) => textAt(owner, of) ?? '');
  return owner === undefined ? undefined : ownerOf({ apiVersion, kind, name });
}

function ownerOf({ apiVersion = '', kind = '', name = '' }): Owner {
  return { group: parseApiVersion(apiVersion).group, kind, name };
}

function notLetGo({ kind, name }: Owner): StatusError {
  const message = `where it runs ${kind} ${name} still owns it, which was deleted with propagationPolicy Orphan`;
  return new StatusError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 });
}
