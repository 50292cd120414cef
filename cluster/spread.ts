import { validateLabelValue, validateQualifiedName } from '../kube/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { fewerInOrder, moreInOrder } from './fill.ts';
import { spreadAnnotation } from './names.ts';

/** Over which values of a label of PhysicalClusters a workload is spread, and how. */
export interface TopologySpread {
  /** A label's key, or `cluster`: each cluster for itself. See topologyOf. */
  topologyKey: string;
  /** By value, how many replicas; no other value is used. Where the workload has another number, in this proportion. */
  replicas?: Record<string, number>;
  /** Without `replicas`: by how many the replicas of two values may differ; default 1. */
  maxSkew?: number;
}

/** As it is recorded in a Placement: with the value of each cluster that was chosen. */
export interface PlacedSpread extends TopologySpread {
  values: Record<string, string>;
  /** The values as they are filled: where the workload has fewer replicas than the counts, those beyond `most` go, then those of the last; where it has more, each is filled up to `most` in turn. */
  order?: string[];
  /** By cluster, how many it has room for, where that is why there are others: its autoscaler asks for no more. */
  most?: Record<string, number>;
}

const wellKnown = 'topology.kubernetes.io/';
const short: ReadonlySet<string> = new Set(['region', 'zone']);
export const eachCluster = 'cluster';

/**
 * The value of a cluster; undefined: it has none. `region` and `zone` stand for Kubernetes' own labels, and where a
 * cluster does not bear these, for the plain ones.
 * https://kubernetes.io/docs/reference/labels-annotations-taints/#topologykubernetesioregion
 */
export function topologyOf(key: string, { metadata }: KubeObject): string | undefined {
  const { name, labels = {} } = metadata;
  if (key === eachCluster) return name;
  const of = (label: string) => (Object.hasOwn(labels, label) ? labels[label] : undefined);
  return (short.has(key) ? of(wellKnown + key) : undefined) ?? of(key);
}

/** `region`, for people. */
export function shownKey(key: string): string {
  return key.startsWith(wellKnown) ? key.slice(wellKnown.length) : key;
}

/** `region eu=2,us=3` */
export function shownSpread({ topologyKey, replicas }: TopologySpread): string {
  const counts = Object.entries(replicas ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    shownKey(topologyKey),
    ...(counts.length > 0 ? [counts.map((pair) => pair.join('=')).join(',')] : []),
  ].join(' ');
}

/** Values that are asked for and have no cluster, and who has their replicas meanwhile; undefined: none. */
export function unsatisfied(spread: PlacedSpread): string | undefined {
  const there = new Set(Object.values(spread.values));
  const missing = Object.keys(spread.replicas ?? {})
    .filter((value) => !there.has(value))
    .sort();
  if (missing.length === 0) return undefined;
  const [key, has] = [shownKey(spread.topologyKey), [...there].sort().join(', ')];
  const whose = missing.length > 1 ? 'their' : 'its';
  return `no cluster of ${key} ${missing.join(', ')} takes it: ${whose} replicas are in ${has} until one does`;
}

/** What may be written of them: each is looked at for each workload. */
export const mostValues = 100;
export const mostReplicas = 1_000_000;

/** An annotation's `region us=3,eu=2`, or `region`: evenly. Undefined where it is absent, or says nothing that can be read. */
export function spreadIn(
  annotations: Readonly<Record<string, string>> | undefined,
): TopologySpread | undefined {
  const value =
    annotations && Object.hasOwn(annotations, spreadAnnotation) ? annotations[spreadAnnotation] : undefined;
  const read = value === undefined ? undefined : parseSpread(value);
  return typeof read === 'object' ? read : undefined;
}

/** A text says what is wrong with it. */
export function parseSpread(text: string): TopologySpread | string {
  const [topologyKey = '', ...rest] = text.trim().split(/\s+/);
  const [fault] =
    topologyKey === '' || topologyKey.includes('=') ? [form] : validateQualifiedName(topologyKey);
  if (fault !== undefined) return fault;
  if (rest.length === 0) return { topologyKey };
  const replicas: Record<string, number> = {};
  const pairs = rest.join('').split(',');
  if (pairs.length > mostValues) return `must not have more than ${mostValues} values`;
  for (const pair of pairs) {
    const [, value, count] = /^([^=]+)=(\d{1,7})$/.exec(pair) ?? [];
    if (value === undefined || count === undefined) return form;
    const [why] = validateLabelValue(value);
    if (why !== undefined) return why;
    if (Number(count) < 1 || Number(count) > mostReplicas) return `${value}: ${countRange}`;
    if (Object.hasOwn(replicas, value)) return `${value} is there twice`;
    replicas[value] = Number(count);
  }
  return { topologyKey, replicas };
}

export const countRange = `must be between 1 and ${mostReplicas}, inclusive`;
const form =
  'must be a label key of physical clusters, or region, zone or cluster, and may say how many replicas have which value: "region us=3,eu=2"';

type Counts = ReadonlyMap<string, number>;

/** How many of `total` replicas each value has; `current` makes the answer stable. The parts add up to `total`. */
export function replicasPerValue(
  total: number,
  { replicas, maxSkew = 1, order, most }: TopologySpread & Pick<PlacedSpread, 'order' | 'most'>,
  values: readonly string[],
  current: Counts = new Map(),
): Map<string, number> {
  const sorted = [...values].sort();
  if (sorted.length === 0) return new Map();
  if (!replicas) return within(total, maxSkew, sorted, current);
  const weights = new Map(sorted.map((v) => [v, getOwn(replicas, v) ?? 0]));
  if (order && total !== sumOf(weights)) {
    const inOrder = total < sumOf(weights) ? fewerInOrder : moreInOrder;
    return inOrder(total, weights, { order, most });
  }
  return inProportion(total, weights, current);
}

/**
 * By Sainte-Laguë: exact where the weights add up to `total`, and unlike largest remainders it never takes a replica from a
 * value because there is one more in all.
 */
function inProportion(total: number, weights: Counts, current: Counts): Map<string, number> {
  const sum = [...weights.values()].reduce((s, n) => s + n, 0);
  if (sum === 0) return new Map([...weights].map(([v]) => [v, 0]));
  // No value is ever as far below its quota as there are values: from here on each step gives one.
  const parts = new Map(
    [...weights].map(([v, w]) => [v, Math.max(0, Math.floor((total * w) / sum) - weights.size)]),
  );
  const of = (counts: Counts, v: string) => counts.get(v) ?? 0;
  const isBefore = (a: string, b: string) => {
    const [x, y] = [of(weights, a) * (2 * of(parts, b) + 1), of(weights, b) * (2 * of(parts, a) + 1)];
    return x === y ? of(current, a) - of(parts, a) > of(current, b) - of(parts, b) : x > y;
  };
  for (let left = total - sumOf(parts); left > 0; left--) {
    const next = [...weights.keys()].reduce((best, v) => (isBefore(v, best) ? v : best));
    parts.set(next, of(parts, next) + 1);
  }
  return parts;
}

/** Of all divisions that differ by `skew` at most one that is nearest to `current`; of those, an even one. */
function within(
  total: number,
  skew: number,
  values: readonly string[],
  current: Counts,
): Map<string, number> {
  const even = Math.floor(total / values.length);
  const lowest = Math.max(0, Math.ceil(total / values.length) - Math.max(1, skew));
  let found: Map<string, number> | undefined;
  let fewest = Infinity;
  for (let low = even; low >= lowest; low--) {
    const parts = filled(total, { low, high: low + Math.max(1, skew) }, values, current);
    const moved = values.reduce((sum, v) => sum + Math.abs((parts.get(v) ?? 0) - (current.get(v) ?? 0)), 0);
    if (moved >= fewest) continue;
    found = parts;
    fewest = moved;
  }
  return found ?? new Map();
}

/** What is there as far as the bounds allow; more goes where least is, fewer where most is. */
function filled(
  total: number,
  { low, high }: { low: number; high: number },
  values: readonly string[],
  current: Counts,
): Map<string, number> {
  const parts = new Map(values.map((v) => [v, Math.min(high, Math.max(low, current.get(v) ?? 0))]));
  const of = (v: string) => parts.get(v) ?? 0;
  for (let left = total - sumOf(parts); left !== 0; left -= Math.sign(left)) {
    const isBefore = (a: string, b: string) => (left > 0 ? of(a) < of(b) : of(a) > of(b));
    const next = values.reduce((best, v) => (isBefore(v, best) ? v : best));
    parts.set(next, of(next) + Math.sign(left));
  }
  return parts;
}

function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((s, n) => s + n, 0);
}

/** How many pods each of `clusters` has to take, at most, where nothing is divided yet. */
export function podsOn(
  total: number,
  clusters: readonly string[],
  spread: PlacedSpread | undefined,
): Map<string, number> {
  const equal = Math.ceil(total / Math.max(1, clusters.length));
  if (!spread) return new Map(clusters.map((c) => [c, equal]));
  const values = clusters.map((c) => getOwn(spread.values, c) ?? '');
  const parts = replicasPerValue(total, spread, [...new Set(values)]);
  const beside = (value: string) => values.filter((other) => other === value).length;
  return new Map(
    clusters.map((c, i) => [c, Math.ceil((parts.get(values[i] ?? '') ?? 0) / beside(values[i] ?? ''))]),
  );
}
