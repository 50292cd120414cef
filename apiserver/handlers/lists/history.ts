import { isToBeMade } from '../../../cluster/awaited-revision.ts';
import { placementName } from '../../../cluster/placement.ts';
import { isRefusedRevision } from '../../../cluster/refused-revision.ts';
import type { Placement } from '../../../cluster/types.ts';
import { sleep, systemClock } from '../../../kube/clock.ts';
import { sameJson } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Pace } from '../../../kube/others-first.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeStored } from '../../registry/codec.ts';
import { parseKey, type StoredAs } from '../../registry/keys.ts';
import { keyOf, listEntries } from '../../registry/rewrite.ts';
import { controllerOf } from '../../view/controlled.ts';
import { presentOf } from '../../view/deployment-revision.ts';
import { templateOf } from '../../view/own-template.ts';
import { addressIn, type NamespacePlace, placementsStored } from '../../view/places.ts';
import type { ListQuery } from './options.ts';
import { Settled } from './settled.ts';

/** So long a list waits, and so often it looks at least. */
export const historyMs = 3_000;
const againMs = 20;
/** Looking takes no more than so much of a list's time, whatever there is to look at. */
const lookingShare = 0.05;

/** Until it looks again, after a look that took so long. */
export function pauseAfter(tookMs: number): number {
  return Math.min(historyMs, Math.max(againMs, tookMs / lookingShare));
}

/** Whose history is made of what. */
const workloads: Readonly<Record<string, readonly string[]>> = {
  replicasets: ['deployments'],
  controllerrevisions: ['statefulsets', 'daemonsets'],
};

const settled = new WeakMap<Store, Settled>();

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
  const known = settled.get(core.store) ?? new Settled();
  settled.set(core.store, known);
  const deadline = Date.now() + historyMs;
  for (;;) {
    const began = performance.now();
    const missing = await missingIn(core.store, place, { kinds, revisions: stored.info.resource, known });
    if (missing.length === 0 || request.signal?.aborted) return;
    if (Date.now() >= deadline) {
      for (const { entry } of missing) known.settle(entry);
      return;
    }
    await sleep(pauseAfter(performance.now() - began), request.signal, systemClock);
  }
}

interface Unsettled {
  entry: Entry;
  workload: KubeObject;
}

interface Looking {
  kinds: readonly string[];
  revisions: string;
  known: Settled;
}

/** The workloads whose template has no revision that is shown, and is to have one. */
async function missingIn(
  store: Store,
  place: NamespacePlace,
  { kinds, revisions, known }: Looking,
): Promise<Unsettled[]> {
  const pace = new Pace(place.logical);
  const found: Unsettled[] = [];
  for (const resource of kinds) found.push(...(await awaitedOf(store, place, { resource, known, pace })));
  if (found.length === 0) return [];
  const all: KubeObject[] = [];
  for (const entry of await entriesIn(store, place, apps(revisions))) {
    all.push(decodeStored(entry));
    await pace.after(entry.value.length);
  }
  const isMissing = ({ workload }: Unsettled) => !isShown(workload, all);
  const missing = found.filter(isMissing);
  const awaited = new Set(missing);
  for (const one of found) if (!awaited.has(one)) known.settle(one.entry);
  return missing;
}

/** Those of a kind that are to have a revision, and were not settled before. */
async function awaitedOf(
  store: Store,
  place: NamespacePlace,
  { resource, known, pace }: { resource: string; known: Settled; pace: Pace },
): Promise<Unsettled[]> {
  const entries = await entriesIn(store, place, apps(resource));
  if (entries.length === 0) return [];
  const placements = new Map(
    (await entriesIn(store, place, placementsStored)).map((entry) => [entry.key, entry]),
  );
  const found: Unsettled[] = [];
  for (const entry of entries) {
    const { name } = parseKey(apps(resource), entry.key);
    const placement = placements.get(
      keyOf(
        addressIn(place, { ...placementsStored, name: placementName({ group: 'apps', resource, name }) }),
      ),
    );
    if (known.has(entry, placement)) continue;
    const workload = decodeStored(entry);
    if (isToBeMade(workload, placement && (decodeStored(placement) as Placement)))
      found.push({ entry, workload });
    else known.leave(entry, placement);
    await pace.after(entry.value.length);
  }
  return found;
}

async function entriesIn(
  store: Store,
  { logical: cluster, namespace }: NamespacePlace,
  resource: StoredAs,
): Promise<readonly Entry[]> {
  return (await listEntries(store, { resource, cluster, namespace })).entries;
}

/** Whether the newest of its revisions is that of its template, or what stands for one that is refused. */
function isShown(workload: KubeObject, revisions: readonly KubeObject[]): boolean {
  const its = revisions.filter((one) => controllerOf(one) === workload.metadata.uid);
  const newest = its.find(isRefusedRevision) ?? presentOf(workload, its);
  return sameJson(templateOf(newest), templateOf(workload));
}

const apps = (resource: string) => ({ group: 'apps', resource, namespaced: true });
