import type { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import type { PlacementInformer } from '../client/placements.ts';
import { parseKey } from '../client/url.ts';
import { isOf } from '../cluster/slices.ts';
import type { ObjectRef, Placement } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { WorkQueue } from '../controller/queue.ts';
import { byLogicalCluster } from '../controller/scope.ts';
import { type Clock, systemClock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Begin, Beginnings } from './begin.ts';
import { copyWords } from './copy-words.ts';
import { writeCopies } from './copy-write.ts';
import { FirstWords } from './first-words.ts';
import { asKept } from './kept.ts';
import { lookAt } from './look.ts';
import { writeScale } from './scale.ts';
import { sooner, tellSilences } from './silences.ts';
import { wake } from './wake.ts';
import { refusalsBy, refusalWords, wordsOf } from './words.ts';
import { byShare, isKnown, observe, rootOf, type World } from './world.ts';
import { dropSlice, writePlacement, writeRoot } from './write.ts';

export interface SplitterOptions {
  /** May write placements, their status, and the status of every placed kind, in all logical clusters. */
  client: Client;
  /** Reading across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** How long a share must have been ready before others go on the strength of it; default 2000. */
  settleMs?: number;
  /** How long what has no annotation of its own is drained at most; default 5000. */
  drainMs?: number;
  /** For how long what a cluster that does not answer said last still counts; default silentAfterMs. */
  silentMs?: number;
  clock?: Clock;
  workers?: number;
  /** Is given, once all is known, what says how a Placement begins that is about to be made. */
  begins?: (begin: Begin) => void;
  /** See RecorderOptions. */
  rush?: { readonly isOn: boolean };
}

interface Telling extends SplitterOptions {
  spoken: Pick<PlacementInformer, 'said'>;
  recorder: EventRecorder;
  /** By key: the status that the root is being given. */
  writing: Map<string, unknown>;
  firstWords: FirstWords;
}

/** Whoever refused a status may take it by then. */
const refusedMs = 60_000;
/** Until the cache has what another wrote. */
const conflictMs = 100;
/** Until there is a first list of a custom resource. */
const unknownMs = 500;
/** What is not listed by then is decided about when it is: beside it others may be decided about as if it were not there. */
const ruledMs = 5_000;
/** They mostly wait for the disk, which takes many writes at once as fast as one. */
const defaultWorkers = 32;

/** HOW MANY, and what it adds up to. Keys are those of Placements. Resolves when `signal` has aborted. */
export async function startSplitter(options: SplitterOptions): Promise<void> {
  const { signal, logger, workers = defaultWorkers } = options;
  const world = observe(options.informers);
  const spoken = options.informers.placements();
  const fair = byLogicalCluster(workers);
  const queue = new WorkQueue({ fair, ...(options.clock && { clock: options.clock }) });
  const writing = new Map<string, unknown>();
  const beginnings = new Beginnings();
  const firstWords = new FirstWords(options.clock ?? systemClock, options.rush);
  wake(world, queue, { writing, beginnings, rush: options.rush });
  spoken.onStray((key) => queue.add(key));
  const recorder = new EventRecorder({ ...options, component: 'atoll-splitter' });
  tellSilences(world.clusters, (name) => world.placements.byIndex(byShare, name), recorder);
  const { placements, clusters, copies, namespaces, roots, ruled } = world;
  const synced = [
    placements,
    clusters,
    copies,
    namespaces,
    ...roots.values(),
    ruled.rules,
    ruled.definitions,
  ];
  const ready = Promise.all(synced.map((informer) => informer.synced));
  const begin: Begin = (cluster, placement, old) =>
    beginnings.of(cluster, placement, { ...options, world, spoken, recorder }, old);
  await runController({
    name: 'splitter',
    queue,
    reconcile: (key) => {
      queue.overtake(key);
      return reconcile(key, world, { ...options, spoken, recorder, writing, firstWords });
    },
    signal,
    logger,
    workers,
    ready: [ready.then(() => ruled.settled(ruledMs, signal)).then(() => options.begins?.(begin))],
  });
}

async function reconcile(key: string, world: World, options: Telling): Promise<Retry | undefined> {
  const placement = world.placements.get(key);
  const { cluster, namespace } = parseKey(key);
  const said = options.spoken.said(key);
  // Of an object that is gone, by whoever spoke while it went.
  for (const slice of said.values()) if (!isOf(slice, placement)) await dropSlice(cluster, slice, options);
  if (!placement?.spec) {
    options.firstWords.forget(key);
    return undefined;
  }
  const { spec } = placement;
  const { ref } = spec;
  if (!isKnown(world, key, spec)) return { after: unknownMs };
  const root = rootOf(world, key, spec);
  if (root && isOlder(root, placement)) return undefined;
  const { outcome, copying, silences, silenceAt } = lookAt(key, placement, root, { ...options, world });
  const scaled = root && outcome.scale && (await writeScale(cluster, ref, root, outcome.scale, options));
  if (scaled === 'conflict') return { after: conflictMs };
  const about = { cluster, namespace, ...ref };
  const tell = () => {
    const silent = root?.metadata.deletionTimestamp === undefined ? undefined : silenceAt;
    if (!root) return;
    const words = wordsOf(placement, outcome.shares, outcome.hold, silent, outcome.once);
    const copied = copyWords(outcome.copied, placement.status?.conditions);
    const refused = [...refusalWords(placement, root), ...refusalsBy(placement, root, outcome.shares)];
    options.recorder.say(about, [...words, ...copied, ...refused]);
  };
  await writePlacement(cluster, placement, { ...outcome, scale: scaled }, { ...options, said, tell });
  if (copying) await writeCopies(cluster, placement, outcome.copied, { ...options, ...copying });
  const rootStatus = root && outcome.rootStatus && asKept(root, ref, outcome.rootStatus);
  const early = root && rootStatus ? options.firstWords.left(key, root.status, rootStatus) : 0;
  const refused =
    root && rootStatus && early === 0 && (await giveStatus(key, ref, root, rootStatus, options));
  if (refused) {
    const message = `its status cannot be written: ${refused}`;
    options.recorder.say(about, [{ type: 'Warning', reason: 'StatusRefused', message }]);
  }
  const again = refused ? refusedMs : early > 0 ? early : undefined;
  return sooner(outcome.requeueAfterMs, silences.lookAgainAfter, again);
}

function giveStatus(
  key: string,
  ref: ObjectRef,
  root: KubeObject,
  status: Record<string, unknown>,
  options: Telling,
): Promise<string | undefined> {
  const { writing } = options;
  writing.set(key, status);
  const written = writeRoot(parseKey(key).cluster, ref, root, status, options);
  return written.finally(() => writing.delete(key));
}

/** The cache has yet to hear of the replicas that were written here; it wakes this again. */
function isOlder(root: KubeObject, { spec }: Placement): boolean {
  const written = spec?.ref.uid === root.metadata.uid ? spec?.scale?.generation : undefined;
  return written !== undefined && (root.metadata.generation ?? 0) < written;
}
