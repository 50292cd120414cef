import { logicalClusterOf } from '../client/url.ts';
import { isFinished, placedKind } from '../cluster/kinds.ts';
import { lackingPods } from '../cluster/no-room.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { slicesOf } from '../cluster/ruled.ts';
import { isStillLedTo, leavesUnheard } from '../cluster/share.ts';
import { silencesIn } from '../cluster/silence.ts';
import { countOf } from '../cluster/summary.ts';
import type { Placement, Share } from '../cluster/types.ts';

/** One object that is still on the cluster, and what it waits for. */
export interface Remaining {
  logicalCluster: string;
  namespace: string;
  /** `deployments.apps/frontend` */
  object: string;
  workload: boolean;
  /** What moves it away, or why nothing can; undefined until the scheduler has looked at it. */
  state: string | undefined;
  blocked: boolean;
  /** It leaves when it is its turn. */
  waits: boolean;
}

/** What is still on `name`, workloads first; `pathOf` an id. Pure, for its table of tests. */
export function remainingOn(
  name: string,
  all: Iterable<Placement>,
  pathOf: (id: string) => string = (id) => id,
): Remaining[] {
  return [...all]
    .filter((placement) => placement.spec?.shares?.[name] !== undefined)
    .map((placement) => describe(name, placement, pathOf))
    .sort((a, b) => Number(b.workload) - Number(a.workload) || keyOf(a).localeCompare(keyOf(b)));
}

export function keyOf(item: Remaining): string {
  return `${item.logicalCluster}/${item.namespace}/${item.object}`;
}

const leftBehind = 'the object is deleted and left its pods behind: delete them, or create it again';

function describe(name: string, placement: Placement, pathOf: (id: string) => string): Remaining {
  const { spec } = placement;
  const ref = spec?.ref;
  const orphaned = isTombstone(placement);
  // What it was told before the drain says nothing of it: only of what is blocked is it known that it was looked at.
  const stays = spec?.clusters.includes(name) === true;
  const blocked = orphaned || (stays && spec?.blocked === true);
  const waits = !blocked && stays && spec?.waits?.includes(name) === true;
  return {
    logicalCluster: pathOf(logicalClusterOf(placement)),
    namespace: placement.metadata.namespace ?? '',
    object: `${ref?.resource}${ref?.group ? `.${ref.group}` : ''}/${ref?.name}`,
    workload: ref !== undefined && placedKind(ref)?.role === 'workload',
    state: orphaned
      ? leftBehind
      : blocked
        ? refusals(name, placement)
        : waits
          ? 'waits for its turn'
          : progress(name, placement, stays),
    blocked,
    waits,
  };
}

/** Why it may not stay, and why it can go nowhere else, with the numbers that the scheduler gives. */
function refusals(name: string, { spec }: Placement): string {
  const { [name]: own, ...others } = spec?.reasons ?? {};
  const lacking = spec?.noRoom ?? spec?.unplaced;
  const elsewhere = Object.entries(others).map(([cluster, why]) => `${cluster}: ${why}`);
  const said = [...(lacking ? [lackingPods(lacking)] : []), ...(own === undefined ? [] : [own])];
  return [...said, ...elsewhere].join('; ') || 'nothing else may run it';
}

function progress(name: string, placement: Placement, stays: boolean): string | undefined {
  const { shares = {}, clusters = [] } = placement.spec ?? {};
  if (shares[name]?.phase === 'Leaving') return 'leaving: being removed';
  if (leavesUnheard(shares[name] ?? {})) return 'silent: removed when it is heard of';
  if (isStillLedTo(shares[name] ?? {}))
    return 'withdrawing: its Services there have yet to be taken out of it';
  if (shares[name]?.phase === 'Withdrawing') return 'withdrawing: it gets no new connections';
  if (stays) return undefined;
  if (isOver(name, placement)) return 'it has ended: to be removed';
  const said = placement.status?.conditions?.find(({ type }) => type === 'Settled');
  if (said?.reason === 'Paused' || said?.reason === 'WaitingForOthers') return said.message;
  if (said && endsOn(name, placement)) return said.message;
  const joining = Object.entries(shares).filter(
    ([cluster, share]) => cluster !== name && share.phase === 'Joining',
  );
  const silences = silencesIn(placement.status?.conditions ?? []);
  const joins = ([cluster, share]: [string, Share]) => {
    const silence = silences.get(cluster);
    return silence === undefined
      ? `joining ${cluster}${ready(cluster, share, placement)}`
      : `waiting for ${cluster}, which ${silence}`;
  };
  if (joining.length > 0) return joining.map(joins).join(', ');
  return clusters.length > 0 ? `moving to ${clusters.join(', ')}` : 'being removed';
}

/** A Job or Pod that has ended there is not made elsewhere. */
function isOver(name: string, placement: Placement): boolean {
  const status = slicesOf(placement)[name]?.status;
  return isFinished({ kind: placement.spec?.ref.kind ?? '', status });
}

/** A Job that is to be elsewhere, and has started there: it ends there. */
export function endsOn(name: string, { spec, status }: Placement): boolean {
  const isLeaving = status?.conditions?.some(
    ({ type, reason }) => type === 'Settled' && reason === 'Leaving',
  );
  const isJob = spec !== undefined && placedKind(spec.ref)?.spread === 'batch';
  return isJob && isLeaving === true && spec.shares?.[name]?.phase === 'Active';
}

function ready(cluster: string, share: Share, placement: Placement): string {
  if (share.replicas === undefined) return '';
  return ` ${countOf(share, slicesOf(placement)[cluster]?.status)} ready`;
}
