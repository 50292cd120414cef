import { logicalClusterOf } from '../client/url.ts';
import type { ClusterSlice, ShareView } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { deepEqual } from '../kube/deep.ts';
import { isStatusError } from '../kube/status.ts';
import { type Engine, shareFor, sharesResource } from './engine.ts';
import { ownership } from './ownership.ts';
import { hasObserved, sliceOf } from './records.ts';
import { parseTarget, type TargetId, targetOf } from './target.ts';

/** At most one slice of a share in this time: a rollout's many small steps become a few writes. */
const minIntervalMs = 100;

interface Sent {
  uid: string;
  slice: ClusterSlice;
  at: number;
}

/** Physical objects -> slices. */
export async function runUp(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void> {
  const sent = new Map<TargetId, Sent>();
  // A share that comes again at once, in the same Placement, has lost what was said of its predecessor.
  engine.shares.on({ delete: (share) => void sent.delete(targetOf(share)) });
  await runController({
    name: `syncer-up-${engine.name}`,
    queue: engine.up,
    workers: 16,
    reconcile: (id) => report(engine, id, sent),
    signal: engine.signal,
    logger: engine.logger,
    ready,
  });
}

async function report(engine: Engine, id: TargetId, sent: Map<TargetId, Sent>): Promise<Retry | undefined> {
  const share = shareFor(engine, id);
  if (!share) {
    sent.delete(id);
    return undefined;
  }
  const slice = sliceNow(engine, id, share);
  const before = lastSent(share, sent.get(id));
  if (!slice || deepEqual(slice, before?.slice)) return undefined;
  const wait = (before?.at ?? 0) + minIntervalMs - Date.now();
  if (wait > 0) return { after: wait };
  await send(engine, share, slice);
  sent.set(id, { uid: share.metadata.uid ?? '', slice, at: Date.now() });
  return undefined;
}

function sliceNow(engine: Engine, id: TargetId, share: ShareView): ClusterSlice | undefined {
  const record = engine.records.get(id);
  if (!record || !share.spec) return undefined;
  const { kind, namespace, name } = parseTarget(id, share.spec.ref);
  const found = engine.physical.cached(kind, namespace, name);
  const object = found && ownership(found, share.spec.locator) === 'ours' ? found : undefined;
  const { applied } = record;
  // What was applied and what was seen of it go up together: a share is never judged by an older status.
  if (
    object &&
    applied &&
    applied.uid === object.metadata.uid &&
    hasObserved(object, applied.physicalGeneration)
  )
    record.observed = { generation: applied.generation, share: applied.share };
  return sliceOf(share, record, object);
}

/** After a restart the view itself says what was sent. */
function lastSent(share: ShareView, sent: Sent | undefined): Sent | undefined {
  if (sent && sent.uid === share.metadata.uid) return sent;
  return share.status && { uid: share.metadata.uid ?? '', slice: share.status, at: 0 };
}

async function send(engine: Engine, share: ShareView, slice: ClusterSlice): Promise<void> {
  const { name = '', namespace } = share.metadata;
  const target = { cluster: logicalClusterOf(share), namespace, name, subresource: 'status' };
  try {
    await engine.upstream.patch(
      sharesResource,
      target,
      'merge',
      { status: slice },
      { signal: engine.signal },
    );
  } catch (error) {
    // The share went in the meantime.
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
