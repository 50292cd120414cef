import type { Client } from '../../client/client.ts';
import { discoverVersion } from '../../client/discovery.ts';
import { absenceOf } from '../../client/errors.ts';
import { decode, failIfNotOk } from '../../client/exchange.ts';
import { pathOf, queryOf, type ResourceRef } from '../../client/url.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, listAt, numberAt, records, textAt } from '../../kube/untyped.ts';
import type { AutoscalerSpec, Described, Scale } from './types.ts';

export interface Where {
  cluster: string | undefined;
  namespace: string;
  signal: AbortSignal;
}

export interface Found {
  resource: ResourceRef;
  /** As it was read: what is written back is refused where another has scaled meanwhile. */
  object: KubeObject;
  scale: Scale;
  selector: string;
}

const pods: ResourceRef = { group: '', version: 'v1', resource: 'pods' };
const fieldManager = 'kube-controller-manager';
const mostRaces = 4;
/** Of one object that an API server of the logical cluster's own answers, as much as a store of Kubernetes takes. */
const mostScaleBytes = 1536 << 10;
/** Of why it does not. */
const mostSaid = 1000;

/** How a kind is named in paths, by who knows what is served. */
export async function resourceOf(
  reader: Client,
  { kind, apiVersion = 'v1' }: Described,
  where: Pick<Where, 'cluster' | 'signal'>,
): Promise<ResourceRef> {
  const gv = parseApiVersion(apiVersion);
  const served = await discoverVersion(reader, gv, where).catch((error: unknown) => {
    if (absenceOf(error) !== 'notServed') throw error;
    return [];
  });
  const resource = served.find((one) => one.kind === kind);
  if (!resource) throw new Error(`no matches for kind "${kind}" in group "${gv.group}"`);
  return resource;
}

/** @param reader who knows what is served; `client` asks as the autoscaler's ServiceAccount. */
export async function scaleOf(
  reader: Client,
  client: Client,
  { scaleTargetRef }: AutoscalerSpec,
  { cluster, namespace, signal }: Where,
): Promise<Found> {
  const resource = await resourceOf(reader, scaleTargetRef, { cluster, signal });
  const path = pathOf(resource, { namespace, name: scaleTargetRef.name, subresource: 'scale' });
  const object = (await client.json(path, { cluster, signal, maxBytes: mostScaleBytes })) as KubeObject;
  const scale = {
    wanted: numberAt(object, 'spec', 'replicas') ?? 0,
    current: numberAt(object, 'status', 'replicas') ?? 0,
  };
  return { resource, object, scale, selector: textAt(object, 'status', 'selector') ?? '' };
}

/** Again where somebody else wrote the object meanwhile, its status say, as Kubernetes' own does. */
export async function writeScale(
  client: Client,
  { resource, object }: Found,
  replicas: number,
  { cluster, namespace, signal }: Where,
): Promise<void> {
  const path = pathOf(resource, { namespace, name: object.metadata.name ?? '', subresource: 'scale' });
  let latest = object;
  for (let left = mostRaces; ; left--) {
    const body = { ...latest, spec: { ...(latest.spec as object), replicas } };
    const put = { method: 'PUT', path: path + queryOf({ fieldManager }), cluster, body, signal } as const;
    try {
      const response = await client.raw(put);
      await failIfNotOk(response);
      await decode(response, mostScaleBytes);
      return;
    } catch (error) {
      if (left === 0 || !isStatusError(error, 'Conflict')) throw error;
    }
    latest = (await client.json(path, { cluster, signal, maxBytes: mostScaleBytes })) as KubeObject;
  }
}

/** An API server of somebody's own may say anything, which is stored with the autoscaler. */
export function whyOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, mostSaid);
}

/** All that the target calls its own; `unlisted`: why they are not known. */
export async function podsOf(
  client: Client,
  { selector }: Pick<Found, 'selector'>,
  { cluster, namespace, signal }: Where,
): Promise<{ pods: KubeObject[]; unlisted?: string }> {
  try {
    const { items } = await client.list(pods, { cluster, namespace, labelSelector: selector, signal, keep });
    return { pods: items };
  } catch (error) {
    signal.throwIfAborted();
    return { pods: [], unlisted: `unable to get pods while calculating replica count: ${whyOf(error)}` };
  }
}

/** What counts of a pod: there may be ten thousand, each as long as its user likes. */
function keep({ apiVersion, kind, metadata, spec, status }: KubeObject): KubeObject {
  const { name, deletionTimestamp } = metadata;
  const [phase, startTime] = [textAt(status, 'phase'), textAt(status, 'startTime')];
  const containers = (key: string) =>
    records(at(spec, key)).map((one) => pick(one, ['name', 'resources', 'restartPolicy']));
  return {
    apiVersion,
    kind,
    metadata: { name: name ?? '', ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: {
      ...pick(spec, ['resources', 'overhead']),
      containers: containers('containers'),
      ...(at(spec, 'initContainers') !== undefined && { initContainers: containers('initContainers') }),
    },
    status: {
      ...(phase !== undefined && { phase }),
      ...(startTime !== undefined && { startTime }),
      conditions: listAt(status, 'conditions').filter((one) => at(one, 'type') === 'Ready'),
    },
  };
}

function pick(of: unknown, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (at(of, key) === undefined ? [] : [[key, at(of, key)]])));
}
