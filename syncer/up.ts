import { logicalClusterOf } from '../client/url.ts';
import { isAdoptable } from '../cluster/placeable.ts';
import type { ClusterSlice, ShareView } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { numberAt } from '../kube/untyped.ts';
import { type Engine, shareFor, sharesResource } from './engine.ts';
import { controllerOf } from './owners.ts';
import { ownership } from './ownership.ts';
import { hasObserved, shareNumbers, sliceOf, type TargetRecord } from './records.ts';
import { appliedThere } from './resume.ts';
import { parseTarget, type TargetId } from './target.ts';

/**
 * At most one slice of a share in this time, of what leaves: a rollout's many small steps become a few writes. What others wait
 * for is told at once.
 */
const minIntervalMs = { stays: 100, leaves: 500 };
/** So long what has just been applied is not told before its controller has seen it, which says more. */
const unseenMs = 500;
const uncountedMs = 500;
const adopterMs = 1_000;
const adopterMostMs = 30_000;

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };

interface Sent {
  uid: string;
  slice: ClusterSlice;
  /** By a clock that nobody sets. */
  at: number;
  /** As of which the Placement was read for it. The slice was stored then or later: a share that is shown at a later one need not show it. */
  revision: number;
}

interface Told {
  sent: Map<TargetId, Sent>;
  /** What is there and its controller has not seen, since when, by the same clock. */
  unseen: Map<TargetId, number>;
}

/** Physical objects -> slices. */
export async function runUp(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void> {
  const told: Told = { sent: new Map(), unseen: new Map() };
  await runController({
    name: `syncer-up-${engine.name}`,
    queue: engine.up,
    workers: 16,
    reconcile: (id) => {
      const news = { madeAt: engine.records.get(id)?.madeAt, signal: engine.signal };
      return engine.rush.tell(news, () => report(engine, id, told));
    },
    signal: engine.signal,
    logger: engine.logger,
    ready,
  });
}

async function report(engine: Engine, id: TargetId, all: Told): Promise<Retry | undefined> {
  const { sent, unseen } = all;
  // Before all that is seen at one moment.
  const there = await claimsThere(engine, id, shareFor(engine, id));
  const share = shareFor(engine, id);
  if (!share || share.spec?.isBeside) {
    sent.delete(id);
    unseen.delete(id);
    return undefined;
  }
  const seen = sliceNow(engine, id, share);
  const slice = seen && { ...seen, ...there };
  const before = lastSent(share, sent.get(id));
  if (!slice) return undefined;
  const { applied: said, ...told } = before?.slice ?? {};
  const record = engine.records.get(id);
  const isTold = before !== undefined && before.isOther !== true && deepEqual(slice, told);
  if (isTold && !record?.remark) return undefined;
  const applied = appliedThere(engine, id, share);
  // What changes nothing else is not worth a write: the next syncer applies it once more, and then it is.
  if (isTold && (applied === undefined || applied === said)) return undefined;
  const now = performance.now();
  const since = unseen.get(id) ?? now;
  unseen.set(id, since);
  const wait = toWait(share, slice, before, { since, now });
  if (wait > 0) return { after: wait };
  unseen.delete(id);
  if (applied !== undefined) delete record?.remark;
  const whole = { ...slice, ...(applied !== undefined && { applied }) };
  const revision = await send(engine, share, whole);
  sent.set(id, { uid: share.metadata.uid ?? '', slice: whole, at: performance.now(), revision });
  return undefined;
}

/** Milliseconds; 0 or less: it is told now. */
function toWait(
  { spec }: ShareView,
  slice: ClusterSlice,
  before: Pick<Sent, 'slice' | 'at'> | undefined,
  { since, now }: { since: number; now: number },
): number {
  if (!before) {
    const isUnseen = slice.present && !slice.error && slice.observedGeneration === undefined;
    return isUnseen ? since + unseenMs - now : 0;
  }
  const { present, error } = before.slice;
  const wanted = spec?.share.replicas ?? 1;
  const isWhole = ({ status }: ClusterSlice) => (numberAt(status, 'availableReplicas') ?? 0) >= wanted;
  if (slice.present !== present || slice.error?.reason !== error?.reason) return 0;
  if (isWhole(slice) && !isWhole(before.slice)) return 0;
  return before.at + (spec?.manifest ? minIntervalMs.stays : minIntervalMs.leaves) - now;
}

function sliceNow(engine: Engine, id: TargetId, share: ShareView): ClusterSlice | undefined {
  const record = engine.records.get(id);
  if (!record || !share.spec) return undefined;
  const { kind, namespace, name } = parseTarget(id, share.spec.ref);
  const found = engine.physical.cached(kind, namespace, name);
  const object = found && ownership(found, share.spec.locator, engine.former) === 'ours' ? found : undefined;
  const { applied } = record;
  // What was applied and what was seen of it go up together: a share is never judged by an older status.
  if (
    object &&
    applied &&
    applied.uid === object.metadata.uid &&
    hasObserved(object, applied.physicalGeneration, share.spec.ref)
  )
    record.observed = { generation: applied.generation, share: applied.share };
  const said = sliceOf(share, record, object, adopterOf(engine, id, record, object));
  const unplaced = said?.present && share.spec.manifest ? engine.unplacedPod(id) : undefined;
  const slice = said && unplaced !== undefined ? { ...said, unplaced } : said;
  const { held } = share.spec.share;
  // Only of what the share says now, once that was seen: before, its controller may make more of them.
  if (!held || !slice?.present || !applied || record.observed?.share !== applied.share) return slice;
  if (!deepEqual(applied.share, shareNumbers(share.spec.share))) return slice;
  const pods = engine.runningPods(id, namespace);
  if (pods) return { ...slice, pods: { since: held.since, ...pods } };
  // Not yet after a restart. The pod that is looked at last may be another workload's, and wakes nobody for this one.
  engine.up.addAfter(id, uncountedMs);
  return slice;
}

/** Of the claims that are copied here: those that are there. Asked until all are, since nobody tells of one that a copier makes. */
async function claimsThere(
  engine: Engine,
  id: TargetId,
  share: ShareView | undefined,
): Promise<Pick<ClusterSlice, 'claims'> | undefined> {
  const { spec } = share ?? {};
  const asked = spec?.share.claims;
  if (!asked) return undefined;
  const found = await Promise.all(
    asked.map(async (name) => {
      const claim = await engine.physical.read(claims, spec.physicalNamespace, name).catch(() => undefined);
      return claim && claim.metadata.deletionTimestamp === undefined ? [name] : [];
    }),
  );
  const there = found.flat();
  if (there.length < asked.length) engine.up.addAfter(id, unseenMs);
  return { claims: there };
}

/** The watch of workloads may be behind the one of pods; what is not ours by then is a stranger. */
function adopterOf(
  engine: Engine,
  id: TargetId,
  record: TargetRecord,
  pod: KubeObject | undefined,
): OwnerReference | undefined {
  const controller = pod && isAdoptable(pod.kind) ? controllerOf(pod) : undefined;
  if (!pod || !controller) return undefined;
  const owner = engine.ownerOf(pod);
  if (owner) {
    record.controller = controller.uid;
    return owner;
  }
  if (record.stranger?.uid !== controller.uid) record.stranger = { uid: controller.uid, since: Date.now() };
  if (Date.now() - record.stranger.since < adopterMostMs) engine.up.addAfter(id, adopterMs);
  return undefined;
}

/**
 * What the Placement has of us. The view says so as of its revision, which is all there is after a restart; what we
 * wrote after that counts instead. The splitter may have dropped what we said, and waits to hear it again. `isOther`: it is not
 * what we wrote last, which may have come after the view: to be told once more, whatever it says.
 */
function lastSent(
  share: ShareView,
  sent: Sent | undefined,
): (Pick<Sent, 'slice' | 'at'> & { isOther?: boolean }) | undefined {
  const { uid, resourceVersion } = share.metadata;
  const own = sent?.uid === uid ? sent : undefined;
  if (own && own.revision >= Number(resourceVersion)) return own;
  const { status: slice } = share;
  const isOther = own !== undefined && !deepEqual(own.slice, slice);
  return slice && { slice, at: sent?.at ?? Number.NEGATIVE_INFINITY, isOther };
}

/** Resolves with the revision as of which the Placement was read for it, 0 when the share had gone in the meantime. */
async function send(engine: Engine, share: ShareView, slice: ClusterSlice): Promise<number> {
  const { name = '', namespace } = share.metadata;
  const target = { cluster: logicalClusterOf(share), namespace, name, subresource: 'status' };
  try {
    const written = await engine.upstream.patch(
      sharesResource,
      target,
      'merge',
      { status: slice },
      { signal: engine.signal },
    );
    return Number(written.metadata.resourceVersion);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    return 0;
  }
}
