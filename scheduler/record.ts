import { logicalClusterOf } from '../client/url.ts';
import { placedKey, refKey } from '../cluster/closure.ts';
import { placedKind } from '../cluster/kinds.ts';
import { apiVersion, physicalNamespaceAnnotation, placementFinalizer } from '../cluster/names.ts';
import { carriedLabels } from '../cluster/namespace-labels.ts';
import { physicalNamespace, placementName } from '../cluster/placement.ts';
import { kindOf } from '../cluster/ruled.ts';
import type { Placement, PlacementSpec } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { butForNodes } from './node-choice.ts';
import { begunBeside, leavesSilence, mayTakeOver, takenOver } from './orphans.ts';
import type { Decided, NamespaceDecision } from './types.ts';
import { isByAnnotation } from './wishes.ts';

export interface RecordInput {
  decided: readonly Decided[];
  placements: readonly Placement[];
  /** False in a Namespace that is being deleted: there nothing of what was orphaned stays either. */
  mayCreate: boolean;
  /** Of the Namespace; undefined while it is not known: then nothing is created. */
  home: Home | undefined;
  /** The uids of objects whose Placements are to stay as they are. */
  untouched?: ReadonlySet<string>;
  /** It is there, and does not answer; default: none. */
  isSilent?: (cluster: string) => boolean;
}

/** Where on the physical side the objects of one Namespace go. Empty for one without a uid. */
export type Home = Pick<PlacementSpec, 'namespaceUid' | 'physicalNamespace' | 'namespaceLabels'>;

export function homeOf(namespace: KubeObject | undefined): Home | undefined {
  if (!namespace) return undefined;
  const { name = '', uid, annotations } = namespace.metadata;
  if (!uid) return {};
  const given = annotations?.[physicalNamespaceAnnotation];
  return {
    namespaceUid: uid,
    physicalNamespace: given ?? physicalNamespace(logicalClusterOf(namespace), name, uid),
    ...labelled(carriedLabels(namespace.metadata.labels)),
  };
}

/** A record keeps the place that it was born with, or that of old; labels follow those of its own Namespace. */
function homeFor(home: Home | undefined, old: Placement | undefined): Home {
  const { namespaceUid, physicalNamespace: given, namespaceLabels } = old?.spec ?? {};
  if (!old) return home ?? {};
  const uid = namespaceUid ?? home?.namespaceUid;
  const name = given ?? physicalNamespace(logicalClusterOf(old), old.metadata.namespace ?? '');
  const labels = home && home.namespaceUid === uid ? home.namespaceLabels : namespaceLabels;
  return uid === undefined ? {} : { namespaceUid: uid, physicalNamespace: name, ...labelled(labels ?? {}) };
}

function labelled(labels: Record<string, string>): Home {
  return Object.keys(labels).length > 0 ? { namespaceLabels: labels } : {};
}

type Records = Pick<NamespaceDecision, 'create' | 'update' | 'remove'>;

/** The Placements as they should be, against those that are. Only what changes is in the answer. */
export function recordOf({
  decided,
  placements,
  mayCreate,
  home,
  untouched,
  isSilent = () => false,
}: RecordInput): Records {
  const wanted = new Map(decided.map((d) => [placedKey(d.placed), d]));
  const records: Records = { create: [], update: [], remove: [] };
  const held = heldByLeavers(placements, decided);
  for (const old of placements) {
    if (!old.spec || (mayCreate && untouched?.has(old.spec.ref.uid))) continue;
    const key = refKey(old.spec.ref);
    const fresh = wanted.get(key);
    wanted.delete(key);
    const isEmpty = Object.keys(old.spec.shares ?? {}).length === 0;
    const isSame = fresh?.placed.object.metadata.uid === old.spec.ref.uid;
    if (fresh && (isSame || isEmpty)) keep(records, old, specOf(fresh, homeFor(home, old), old.spec));
    else if (isEmpty) records.remove.push(old);
    else if (fresh && mayCreate && mayTakeOver(old))
      keep(records, old, takenOver(specOf(fresh, homeFor(home, old)), old.spec));
    else if (fresh && mayCreate && leavesSilence(old, isSilent))
      keep(records, old, begunBeside(specOf(fresh, homeFor(home, old)), old.spec));
    // Its object is gone, or another one has taken its name: the shares go before the name can be used again.
    else keep(records, old, { ...released(old.spec, held.get(key) ?? [], mayCreate), ...homeFor(home, old) });
  }
  if (mayCreate && home) for (const fresh of wanted.values()) records.create.push(created(fresh, home));
  return records;
}

/** A deleted object stays with deleted workloads that use it until their last share is gone. */
function heldByLeavers(placements: readonly Placement[], decided: readonly Decided[]): Map<string, string[]> {
  const live = new Set(decided.map((d) => d.placed.object.metadata.uid));
  const held = new Map<string, string[]>();
  for (const { spec } of placements) {
    if (!spec || live.has(spec.ref.uid)) continue;
    const shares = Object.keys(spec.shares ?? {});
    for (const ref of spec.requires ?? [])
      held.set(refKey(ref), [...(held.get(refKey(ref)) ?? []), ...shares]);
  }
  return held;
}

function released(
  {
    reasons: _reasons,
    wanted: _wanted,
    policies: _policies,
    blocked: _blocked,
    waits: _waits,
    leavingSince: _since,
    rebalancedAt: _at,
    givenUp: _givenUp,
    copiedFrom: _copiedFrom,
    spread: _spread,
    filled: _filled,
    noRoom: _noRoom,
    unplaced: _unplaced,
    namespaceLabels: _labels,
    orphaned,
    ...spec
  }: PlacementSpec,
  held: string[],
  mayStay: boolean,
): PlacementSpec {
  const isAlong = placedKind(spec.ref)?.role === 'closure';
  const there = spec.shares ?? {};
  const clusters = isAlong ? [...new Set(held)].filter((c) => Object.hasOwn(there, c)).sort() : [];
  return { ...spec, clusters, ...(orphaned !== undefined && { orphaned: mayStay ? orphaned : '' }) };
}

function keep(records: Records, old: Placement, spec: PlacementSpec): void {
  const finalizers = old.metadata.finalizers ?? [];
  const guarded = finalizers.includes(placementFinalizer) || old.metadata.deletionTimestamp !== undefined;
  const metadata = guarded
    ? old.metadata
    : { ...old.metadata, finalizers: [...finalizers, placementFinalizer] };
  if (guarded && deepEqual(spec, old.spec)) return;
  records.update.push({ old, wanted: { ...old, metadata, spec } });
}

function specOf(decided: Decided, home: Home, old?: PlacementSpec): PlacementSpec {
  const { choice, wish, requires, leavingSince, rebalancedAt, copies } = decided;
  const { kind, object } = decided.placed;
  const { group, version, resource } = kind;
  const { name = '', uid = '' } = object.metadata;
  const { clusters, wanted } = choice;
  const policies = (wish?.layers ?? []).flatMap(({ isPolicy, source }) => (isPolicy ? [source] : []));
  // What was said when it was chosen remains true while it stays.
  const isSaid = choice.blocked || choice.waits !== undefined || old?.waits !== undefined;
  const isDivided = old?.spread !== undefined || old?.filled !== undefined;
  const isFree = kind.role === 'workload' && !wish && !isSaid && !isDivided && old?.policies === undefined;
  const stays = isFree && old?.ref.uid === uid && deepEqual(old.clusters, clusters);
  const isBrought = rebalancedAt !== undefined && old?.rebalancedAt === rebalancedAt && !isSaid;
  const wasAsked = old?.wanted !== undefined || Object.values(old?.reasons ?? {}).some(isByAnnotation);
  const told =
    stays && old.reasons && !wasAsked ? old.reasons : isBrought ? brought(choice, old) : choice.reasons;
  const reasons = isSaid ? told : butForNodes(told, decided.misfits);
  return {
    ref: { group, version, resource, kind: kindOf(object), name, uid, ...(kind.rule && { rule: kind.rule }) },
    ...home,
    clusters,
    ...(wanted && { wanted }),
    ...(policies.length > 0 && { policies }),
    ...(Object.keys(reasons).length > 0 && { reasons }),
    ...(choice.blocked && { blocked: true }),
    ...(choice.waits && { waits: [...choice.waits].sort() }),
    ...(leavingSince && { leavingSince }),
    ...(rebalancedAt && { rebalancedAt }),
    ...(choice.givenUp && { givenUp: choice.givenUp }),
    ...(choice.copiedFrom && { copiedFrom: choice.copiedFrom }),
    ...(copies && { copies }),
    ...(choice.spread && { spread: choice.spread }),
    ...(choice.filled && { filled: choice.filled }),
    ...(choice.noRoom && { noRoom: choice.noRoom }),
    ...(choice.unplaced && { unplaced: choice.unplaced }),
    ...(requires.length > 0 && { requires }),
    ...(old?.shares && Object.keys(old.shares).length > 0 && { shares: old.shares }),
    ...(old?.scale && old.ref.uid === uid && { scale: old.scale }),
    ...(old?.orphaned !== undefined && old.ref.uid === uid && { orphaned: old.orphaned }),
  };
}

/** Why a rebalance has brought it where it is remains true while it stays. */
function brought({ clusters, reasons }: Decided['choice'], old: PlacementSpec): Record<string, string> {
  const said = Object.entries(old.reasons ?? {}).filter(([name]) => clusters.includes(name));
  return { ...reasons, ...Object.fromEntries(said) };
}

function created(decided: Decided, home: Home): Placement {
  const { kind, object } = decided.placed;
  const { namespace, name = '' } = object.metadata;
  return {
    apiVersion,
    kind: 'Placement',
    metadata: {
      name: placementName({ ...kind, name }),
      ...(namespace !== undefined && { namespace }),
      finalizers: [placementFinalizer],
    },
    spec: specOf(decided, home),
  };
}
