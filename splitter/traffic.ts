import { drainSeconds, isPaused, waitSeconds } from '../cluster/drain.ts';
import { podTemplate } from '../cluster/pod-spec.ts';
import type { ClosureRef, Placement, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import type { Shares } from './plan.ts';

/** What a workload and its Namespace say of how it is handed over. */
export interface Manner {
  paused: boolean;
  drainMs: number;
  /** See Hold. */
  waitMs?: number;
}

/**
 * How long a copy of a workload that is to leave is drained: as its own annotation says; where a Service selects it, as its
 * Namespace's does; else as long as its pods may take to end, at most `mostMs`. What no Service selects has nobody to wait for.
 */
export function mannerOf(
  workload: KubeObject,
  { spec }: Placement,
  namespace: KubeObject | undefined,
  mostMs: number,
): Manner {
  const paused = isPaused(workload) || (namespace !== undefined && isPaused(namespace));
  const wait = waitSeconds(workload) ?? (namespace && waitSeconds(namespace));
  const manner = { paused, ...(wait !== undefined && { waitMs: wait * 1000 }) };
  const own = drainSeconds(workload);
  if (own !== undefined) return { ...manner, drainMs: own * 1000 };
  if (!(spec?.requires ?? []).some(isService)) return { ...manner, drainMs: 0 };
  const said = namespace && drainSeconds(namespace);
  const grace = numberAt(podTemplate(workload).spec, 'terminationGracePeriodSeconds') ?? 30;
  return {
    ...manner,
    drainMs: said === undefined ? Math.min(Math.max(0, grace) * 1000, mostMs) : said * 1000,
  };
}

const isService = ({ group, resource }: ClosureRef) => group === '' && resource === 'services';

/** Kinds through which others reach pods, and whose addresses are taken back before these go. */
export const reaching: ReadonlySet<string> = new Set(['Service', 'Ingress']);

export function isGoing({ phase }: Pick<Share, 'phase'>): boolean {
  return phase === 'Withdrawing' || phase === 'Leaving';
}

/** As it is once it is going from there. */
export function goingFrom(cluster: string, placement: Placement): Placement {
  const { spec } = placement;
  const share = spec?.shares?.[cluster];
  if (!spec || !share) return placement;
  return {
    ...placement,
    spec: { ...spec, shares: { ...spec.shares, [cluster]: { ...share, phase: 'Withdrawing' } } },
  };
}

/**
 * The shares of a Service or an Ingress, withdrawn where all that is behind it goes, or went, while some of it is counted on
 * elsewhere. Of what is deleted nothing stays, and nothing has to be taken back.
 */
export function withWithdrawn(shares: Shares, behind: readonly Placement[]): Shares {
  const all = behind.flatMap(({ spec }) => Object.entries(spec?.shares ?? {}));
  const serves = all.some(([, share]) => share.phase === 'Active');
  const going = new Set(all.flatMap(([c, share]) => (isGoing(share) ? [c] : [])));
  const staying = new Set(all.flatMap(([c, share]) => (isGoing(share) ? [] : [c])));
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]): [string, Share] => {
      const { withdrawn: before, ...rest } = share;
      const withdrawn = serves && !staying.has(cluster) && (before === true || going.has(cluster));
      return [cluster, withdrawn ? { ...rest, withdrawn } : rest];
    }),
  );
}
