import { podTemplate } from '../cluster/pod-spec.ts';
import type { Placement, Share } from '../cluster/types.ts';
import { requestLimits } from '../kube/defaults/pod.ts';
import { fillFromRanges, type Limit } from '../kube/limit-range.ts';
import type { KubeObject } from '../kube/object.ts';
import { formatQuantity, type Quantity, scaledQuantity } from '../kube/quantity.ts';
import { readList } from '../kube/quota/list.ts';
import { podEvaluator } from '../kube/quota/pod.ts';
import { scopesOf } from '../kube/quota/scope.ts';
import { at, isRecord, numberAt } from '../kube/untyped.ts';
import { type Amounts, commonStep, divideAmount, raise } from './amounts.ts';
import type { Shares, Slices } from './plan.ts';

/** A workload in whose namespace a ResourceQuota is. */
export interface Demand {
  /** Pods of it that are to be in all, and by cluster as many as its shares say. */
  total: number;
  there: ReadonlyMap<string, number>;
  /** What one of its pods uses. */
  usage: ReadonlyMap<string, Quantity>;
  pod: KubeObject;
}

/** `ranges`: the limits of each LimitRange of its namespace. */
export function demandOf(
  root: KubeObject,
  placement: Placement,
  ranges: readonly (readonly Limit[])[] = [],
): Demand {
  const { shares = {}, clusters = [], scale } = placement.spec ?? {};
  const there = countsOf(root, placement);
  const stays = (c: string) => (clusters.length > 0 ? clusters.includes(c) : shares[c]?.phase !== 'Leaving');
  const divided = Object.values(shares).some(
    ({ phase, replicas }) => phase !== 'Leaving' && replicas !== undefined,
  );
  const replicas = scale?.replicas ?? numberAt(root, 'spec', 'replicas') ?? 1;
  const staying = [...there].reduce((all, [c, n]) => (stays(c) ? all + n : all), 0);
  const total = root.kind === 'Pod' ? 1 : divided ? replicas : staying;
  const pod = madeOf(root, ranges);
  return { total, there, usage: podEvaluator.usage(pod, 0), pod };
}

/** A pod of its template, as its cluster charges it: what the template does not ask for it has by its limits, and by LimitRanges. */
function madeOf(root: KubeObject, ranges: readonly (readonly Limit[])[]): KubeObject {
  const { labels, spec } = structuredClone(podTemplate(root));
  if (isRecord(spec)) requestLimits(spec);
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { labels }, spec };
  fillFromRanges(pod, ranges);
  return pod;
}

/** Pods by share. Those of one that leaves use what they use until they have gone, of a silent cluster for long. */
function countsOf(root: KubeObject, { spec, status }: Placement): Map<string, number> {
  const nodes = (c: string) => numberAt(status?.clusters?.[c]?.status, 'desiredNumberScheduled');
  const shares = Object.entries(spec?.shares ?? {});
  // On a cluster that has not counted its nodes yet perhaps as many as elsewhere.
  const most = Math.max(0, ...shares.map(([c]) => nodes(c) ?? 0)) || undefined;
  const whole = numberAt(root, 'spec', 'parallelism') ?? 1;
  const count = (c: string, share: Share) =>
    share.replicas ??
    share.parallelism ??
    (root.kind === 'DaemonSet' ? (nodes(c) ?? most) : undefined) ??
    whole;
  return new Map(shares.map(([c, share]) => [c, count(c, share)]));
}

/**
 * A ResourceQuota's amounts for pods, divided over the clusters like the pods in its namespace, so that together they run
 * no more than it says. Nobody is given what another may still use: parts shrink first, and others grow when their clusters
 * have said so. A hand-over, which runs some of it twice for a while, is the system's own and has room: docs/decisions/0030.
 */
export function withQuota(
  root: KubeObject,
  shares: Shares,
  { before, slices, demands }: { before: Shares; slices: Slices; demands: readonly Demand[] | undefined },
): Shares {
  if (root.kind !== 'ResourceQuota') return shares;
  const entries = Object.entries(shares).map(([c, { hard: _, ...share }]): [string, Share] => [c, share]);
  const clusters = entries.map(([c]) => c).sort();
  // The whole of it is where all of it was.
  if (clusters.length < 2) return Object.fromEntries(entries);
  const scopes = scopesOf(root);
  const counted = (demands ?? []).filter(({ pod }) => scopes.every((one) => podEvaluator.matches(one, pod)));
  const parts = new Map<string, Record<string, string>>(clusters.map((c) => [c, {}]));
  for (const [name, whole] of readList(at(root.spec, 'hard'))) {
    if (!podEvaluator.counts(name)) continue;
    const unit = /cpu$/.test(name) ? -3 : 0;
    const amount = scaledQuantity(whole, unit);
    const scene = { clusters, before, shares, slices, counted };
    for (const [c, part] of partsOf(name, amount, unit, scene)) {
      const given = parts.get(c);
      if (given) given[name] = formatQuantity({ value: part, scale: unit, format: whole.format });
    }
  }
  return Object.fromEntries(entries.map(([c, share]) => [c, { ...share, hard: parts.get(c) ?? {} }]));
}

/** What a pod uses by what clusters say: where no template asks for any, their own admission may have it ask. At least 1, to count by. */
function usedByOne(used: Amounts, counted: readonly Demand[]): bigint {
  return [...used].reduce((most, [c, amount]) => {
    const pods = BigInt(counted.reduce((all, { there }) => all + (there.get(c) ?? 0), 0));
    const one = pods > 0n ? (amount + pods - 1n) / pods : 0n;
    return one > most ? one : most;
  }, 1n);
}

interface Scene {
  clusters: readonly string[];
  before: Shares;
  shares: Shares;
  slices: Slices;
  counted: readonly Demand[];
}

function partsOf(name: string, hard: bigint, unit: number, scene: Scene): Amounts {
  const { clusters, before, shares, slices, counted } = scene;
  const amountOf = (list: unknown) => {
    const found = readList(list).get(name);
    return found && scaledQuantity(found, unit);
  };
  const status = (c: string) => (slices[c]?.present === true ? slices[c].status : undefined);
  const used = new Map(clusters.map((c) => [c, amountOf(at(status(c), 'used')) ?? 0n]));
  const isAnyAsked = counted.some(({ usage }) => usage.has(name));
  const seen = isAnyAsked ? 0n : usedByOne(used, counted);
  const each = ({ usage }: Demand) => {
    const one = usage.get(name);
    return isAnyAsked ? (one ? scaledQuantity(one, unit) : 0n) : seen;
  };
  const wanted = new Map(clusters.map((c) => [c, 0n]));
  let total = 0n;
  for (const demand of counted) {
    total += BigInt(demand.total) * each(demand);
    for (const [c, n] of demand.there) wanted.set(c, (wanted.get(c) ?? 0n) + BigInt(n) * each(demand));
  }
  const sum = [...wanted.values()].reduce((all, n) => all + n, 0n);
  const whole = total > 0n && sum > total ? (hard * sum + total - 1n) / total : hard;
  const staying = clusters.filter((c) => shares[c]?.phase !== 'Leaving');
  const some = counted.filter(({ there }) => staying.some((c) => (there.get(c) ?? 0) > 0));
  const goal = divideAmount(whole, staying, { wanted, used, step: commonStep(some.map(each)) });
  const had = new Map(
    clusters.map((c) => {
      const share = before[c];
      return [c, share === undefined ? 0n : (amountOf(share.hard) ?? hard)];
    }),
  );
  const said = new Map(clusters.map((c) => [c, amountOf(at(status(c), 'hard')) ?? had.get(c) ?? 0n]));
  return raise({ whole, goal, had, said, used }, clusters);
}
