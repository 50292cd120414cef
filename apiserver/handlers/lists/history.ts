import { isToBeMade } from '../../../cluster/awaited-revision.ts';
import { placementName } from '../../../cluster/placement.ts';
import { isRefusedRevision } from '../../../cluster/refused-revision.ts';
import type { Placement } from '../../../cluster/types.ts';
import { sleep, systemClock } from '../../../kube/clock.ts';
import { sameJson } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeStored } from '../../registry/codec.ts';
import { listEntries, readObject } from '../../registry/rewrite.ts';
import { presentOf } from '../../view/deployment-revision.ts';
import { templateOf } from '../../view/own-template.ts';
import { addressIn, type NamespacePlace, placementsStored } from '../../view/places.ts';
import { controllerOf } from '../../view/reflected-revision.ts';
import type { ListQuery } from './options.ts';

/** So long a list waits, and so often it looks. */
export const historyMs = 3_000;
const againMs = 20;

/** Whose history is made of what. */
const workloads: Readonly<Record<string, readonly string[]>> = {
  replicasets: ['deployments'],
  controllerrevisions: ['statefulsets', 'daemonsets'],
};

/** Of workloads, by key, which one's generation is shown, or was waited for in vain: neither is looked at again. */
type Settled = Map<string, string>;
const settled = new WeakMap<Store, Settled>();
const mostSettled = 10_000;

/**
 * Whoever asks for the revisions of a namespace waits a moment for those that are on their way: `kubectl rollout undo` goes back from
 * the newest that it is shown, which right after a change was the one before, so that it led one too far back, or nowhere.
 * On Kubernetes a controller beside the API server makes it at once; here clusters do, and tell of it. Who says which
 * revision of the store is wanted has a cache to keep, and waits for nothing.
 */
export async function waitForHistory(exchange: ResourceExchange, query: ListQuery): Promise<void> {
  const { core, info, stored, request } = exchange;
  const kinds = stored.info.group === 'apps' ? workloads[stored.info.resource] : undefined;
  const isOfOne = info.cluster !== '*' && info.namespace !== '';
  if (!kinds || !isOfOne || query.revision !== undefined || query.continue !== '') return;
  const place = { logical: info.cluster, namespace: info.namespace };
  const known = settled.get(core.store) ?? new Map<string, string>();
  settled.set(core.store, known);
  const deadline = Date.now() + historyMs;
  for (;;) {
    const missing = await missingIn(core.store, place, { kinds, revisions: stored.info.resource, known });
    if (missing.length === 0 || request.signal?.aborted) return;
    if (Date.now() >= deadline) {
      for (const one of missing) settle(known, one);
      return;
    }
    await sleep(againMs, request.signal, systemClock);
  }
}

function settle(known: Settled, { entry }: Unsettled): void {
  known.delete(entry.key);
  known.set(entry.key, generationOf(entry));
  for (const oldest of known.keys()) {
    if (known.size <= mostSettled) return;
    known.delete(oldest);
  }
}

interface Unsettled {
  entry: Entry;
  workload: KubeObject;
}

/** The workloads whose template has no revision that is shown, and is to have one. */
async function missingIn(
  store: Store,
  place: NamespacePlace,
  { kinds, revisions, known }: { kinds: readonly string[]; revisions: string; known: Settled },
): Promise<Unsettled[]> {
  const entriesOf = async (resource: string) => {
    const scope = { cluster: place.logical, namespace: place.namespace };
    return (await listEntries(store, { resource: apps(resource), ...scope })).entries;
  };
  const found: Unsettled[] = [];
  for (const resource of kinds) {
    for (const entry of await entriesOf(resource)) {
      if (known.get(entry.key) === generationOf(entry)) continue;
      const workload = decodeStored(entry);
      const name = placementName({ group: 'apps', resource, name: workload.metadata.name ?? '' });
      const placement = await readObject<Placement>(store, addressIn(place, { ...placementsStored, name }));
      if (isToBeMade(workload, placement)) found.push({ entry, workload });
    }
  }
  if (found.length === 0) return [];
  const all = (await entriesOf(revisions)).map((entry) => decodeStored(entry));
  const isMissing = ({ workload }: Unsettled) => !isShown(workload, all);
  for (const one of found) if (!isMissing(one)) settle(known, one);
  return found.filter(isMissing);
}

/** Whether the newest of its revisions is that of its template, or what stands for one that is refused. */
function isShown(workload: KubeObject, revisions: readonly KubeObject[]): boolean {
  const its = revisions.filter((one) => controllerOf(one) === workload.metadata.uid);
  const newest = its.find(isRefusedRevision) ?? presentOf(workload, its);
  return sameJson(templateOf(newest), templateOf(workload));
}

const apps = (resource: string) => ({ group: 'apps', resource, namespaced: true });

/** Which one's, read from its bytes: the first of this name is the object's own, whatever its spec has. */
function generationOf({ value, created }: Entry): string {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  return `${created} ${/"generation":(\d+)/.exec(text)?.[1]}`;
}
