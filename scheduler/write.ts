import type { Client } from '../client/client.ts';
import { placedKey, refKey } from '../cluster/closure.ts';
import {
  clustersAnnotation,
  placedByAnnotation,
  placementFinalizer,
  placements,
  schedulerUser,
} from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { breather } from '../controller/breather.ts';
import { commit, commitUnread } from '../controller/commit.ts';
import type { EventRecorder } from '../controller/events.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { commitThough, objectStands, placementStands } from './race.ts';
import type { NamespaceDecision } from './types.ts';
import { wordsOf } from './words.ts';

export interface Writer {
  client: Client;
  /** May read what `client` writes. */
  reader: Client;
  signal: AbortSignal;
  recorder: EventRecorder;
  begin?: Begin | undefined;
}

/**
 * With what a Placement is written beside what is decided here: its first shares, or those where it comes to from where it is, by whoever divides
 * them, where all that is known. What is to be done once it is written, or is not.
 */
export type Begin = (
  cluster: string,
  placement: Placement,
  old?: Placement,
) => { placement: Placement; made(): void; failed(): void } | undefined;

const pods = { group: '', version: 'v1', resource: 'pods' };

/** Writes under way at once for one namespace. */
const width = 16;
/** Whoever acts on the first of so many waits until the last is written: annotations need not follow at once. */
const many = 50;
/** So many as nobody else has anything to write meanwhile: they wait for the disk, which takes them together. */
const manyWidth = 64;

/**
 * Records first: an annotation says what the record already explains, and follows it at once, while whoever acts on that has yet
 * to begin; of a record that could not be written nothing is said. One write that fails does not keep the others from being done; the first
 * failure is thrown in the end. Races that some of many lost are none: it says how many are to be decided about anew.
 */
export async function writeDecision(
  cluster: string,
  decision: NamespaceDecision,
  writer: Writer,
): Promise<number> {
  const { client, reader, signal } = writer;
  const racing = { client, reader, cluster, signal };
  const writes = new Writes(signal);
  const tell = (now: Placement, before?: Placement) => {
    const { namespace = '' } = now.metadata;
    if (now.spec)
      writer.recorder.say({ cluster, namespace, ...now.spec.ref }, wordsOf(before?.spec, now.spec));
  };
  const recorded = new Set([...decision.create, ...decision.update.map(({ wanted }) => wanted)].map(keyOf));
  const annotations = new Map(decision.annotate.map((one) => [placedKey(one.placed), one]));
  const others = decision.annotate.filter(({ placed }) => !recorded.has(placedKey(placed)));
  const annotate = ({ placed, clusters }: NamespaceDecision['annotate'][number]) =>
    commitThough(placed.kind, placed.object, annotated(placed.object, clusters), {
      ...racing,
      stands: objectStands(placed),
    });
  const explained = async (placement: Placement) => {
    const annotation = annotations.get(keyOf(placement));
    if (annotation) await writes.one(annotate(annotation));
  };
  await writes.each(decision.create, async (placement) => {
    const begun = writer.begin?.(cluster, placement);
    const made = client.createUnread(placements, begun?.placement ?? placement, { cluster, signal });
    await made.catch((error) => {
      begun?.failed();
      throw error;
    });
    tell(placement);
    begun?.made();
    await explained(placement);
  });
  const update = async ({ old, wanted }: NamespaceDecision['update'][number]) => {
    const begun = writer.begin?.(cluster, wanted, old);
    const isBegun = begun !== undefined && (await writeBegun(begun, old, { cluster, client, signal }));
    if (!isBegun) await commitThough(placements, old, wanted, { ...racing, stands: placementStands });
    tell(wanted, old);
    if (isBegun) begun.made();
    return wanted;
  };
  if (decision.update.length < many)
    await writes.each(decision.update, async (one) => await explained(await update(one)));
  else
    await breather.before(async () => {
      const written: Placement[] = [];
      await writes.each(decision.update, async (one) => written.push(await update(one)), manyWidth);
      await writes.each(written, explained, manyWidth);
    });
  await writes.each(decision.finish, (pod) => finish(cluster, pod, writer));
  await writes.each(decision.remove, (placement) => remove(cluster, placement, writer));
  await writes.each(others, annotate);
  return writes.failed();
}

/**
 * As it was decided by, and in one write: shares are never told over what somebody has said meanwhile. False where somebody has: they are
 * divided when what is decided here is seen.
 */
async function writeBegun(
  { placement, failed }: NonNullable<ReturnType<Begin>>,
  old: Placement,
  { client, ...options }: { client: Client; cluster: string; signal: AbortSignal },
): Promise<boolean> {
  try {
    await commitUnread(client, placements, old, placement, { ...options, whole: true });
    return true;
  } catch (error) {
    failed();
    if (!isStatusError(error, 'Conflict')) throw error;
    return false;
  }
}

/** As placedKey has it. */
function keyOf({ spec }: Placement): string {
  return spec ? refKey(spec.ref) : '';
}

/** Of one decision: each is tried, however many fail. */
class Writes {
  readonly #signal: AbortSignal;
  readonly #failures: unknown[] = [];
  #done = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async one(write: Promise<unknown>): Promise<void> {
    await write.then(
      () => this.#done++,
      (error) => this.#failures.push(error),
    );
    this.#signal.throwIfAborted();
  }

  async each<T>(
    items: readonly T[],
    write: (item: T) => Promise<unknown>,
    atOnce: number = width,
  ): Promise<void> {
    const left = items.values();
    const worker = async () => {
      for (const item of left) await this.one(write(item));
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  }

  /** How many did; throws where that is no lost race, or all that there was. */
  failed(): number {
    const failure = this.#failures.find((error) => !isStatusError(error, 'Conflict')) ?? this.#failures[0];
    if (failure !== undefined && (this.#done === 0 || !isStatusError(failure, 'Conflict'))) throw failure;
    return this.#failures.length;
  }
}

function annotated(object: KubeObject, clusters: string | undefined): KubeObject {
  const {
    [clustersAnnotation]: _where,
    [placedByAnnotation]: _who,
    ...rest
  } = object.metadata.annotations ?? {};
  const ours = clusters !== undefined && {
    [clustersAnnotation]: clusters,
    [placedByAnnotation]: schedulerUser,
  };
  return { ...object, metadata: { ...object.metadata, annotations: { ...rest, ...ours } } };
}

async function finish(
  cluster: string,
  { metadata: { namespace, name = '', uid } }: KubeObject,
  { client, signal }: Writer,
): Promise<void> {
  const how = { gracePeriodSeconds: 0, ...(uid && { preconditions: { uid } }) };
  try {
    await client.delete(pods, { cluster, namespace, name }, how, signal);
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

/** Nothing is left of it anywhere: let it go, whether or not it was asked to go before. */
async function remove(cluster: string, placement: Placement, { client, signal }: Writer): Promise<void> {
  const { namespace, name = '', uid, finalizers = [] } = placement.metadata;
  const kept = finalizers.filter((finalizer) => finalizer !== placementFinalizer);
  try {
    const free = { ...placement, metadata: { ...placement.metadata, finalizers: kept } };
    await commit(client, placements, placement, free, { cluster, signal });
    if (placement.metadata.deletionTimestamp !== undefined) return;
    await client.delete(
      placements,
      { cluster, namespace, name },
      uid ? { preconditions: { uid } } : {},
      signal,
    );
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
