import type { Client } from '../client/client.ts';
import {
  clustersAnnotation,
  placedByAnnotation,
  placementFinalizer,
  placements,
  schedulerUser,
} from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
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
}

const pods = { group: '', version: 'v1', resource: 'pods' };

/** Writes under way at once for one namespace. */
const width = 16;

/**
 * Records first: an annotation says what the record already explains. One write that fails does not keep the
 * others from being done; the first failure is thrown in the end. Races that some of many lost are none: it says how many
 * are to be decided about anew.
 */
export async function writeDecision(
  cluster: string,
  decision: NamespaceDecision,
  writer: Writer,
): Promise<number> {
  const { client, reader, signal } = writer;
  const racing = { client, reader, cluster, signal };
  const failures: unknown[] = [];
  let done = 0;
  const each = async <T>(items: readonly T[], write: (item: T) => Promise<unknown>) => {
    for (let i = 0; i < items.length; i += width) {
      const results = await Promise.allSettled(items.slice(i, i + width).map(write));
      for (const result of results) {
        if (result.status === 'rejected') failures.push(result.reason);
        else done++;
      }
      signal.throwIfAborted();
    }
  };
  const tell = (now: Placement, before?: Placement) => {
    const { namespace = '' } = now.metadata;
    if (now.spec)
      writer.recorder.say({ cluster, namespace, ...now.spec.ref }, wordsOf(before?.spec, now.spec));
  };
  await each(decision.create, async (placement) => {
    await client.create(placements, placement, { cluster, signal });
    tell(placement);
  });
  await each(decision.update, async ({ old, wanted }) => {
    await commitThough(placements, old, wanted, { ...racing, stands: placementStands });
    tell(wanted, old);
  });
  await each(decision.finish, (pod) => finish(cluster, pod, writer));
  await each(decision.remove, (placement) => remove(cluster, placement, writer));
  await each(decision.annotate, ({ placed, clusters }) =>
    commitThough(placed.kind, placed.object, annotated(placed.object, clusters), {
      ...racing,
      stands: objectStands(placed),
    }),
  );
  const failure = failures.find((error) => !isStatusError(error, 'Conflict')) ?? failures[0];
  if (failure !== undefined && (done === 0 || !isStatusError(failure, 'Conflict'))) throw failure;
  return failures.length;
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
