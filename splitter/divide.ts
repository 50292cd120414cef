/**
 * Largest remainder: every cluster gets its whole quota, what is left over goes to the largest fractions. Where
 * fractions tie, to whoever has more already, then by name, so that a replica moves only when it must.
 * The parts are whole numbers and their sum is `total`.
 */
export function divide(
  total: number,
  clusters: readonly string[],
  current: ReadonlyMap<string, number> = new Map(),
  weights: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const weigh = (c: string) => Math.max(0, Math.trunc(weights.get(c) ?? 1));
  const sum = clusters.reduce((s, c) => s + weigh(c), 0);
  if (sum === 0) return new Map(clusters.map((c) => [c, 0]));
  const parts = new Map(clusters.map((c) => [c, Math.floor((total * weigh(c)) / sum)]));
  let left = total - [...parts.values()].reduce((s, n) => s + n, 0);
  const fraction = (c: string) => (total * weigh(c)) % sum;
  const order = [...clusters].sort(
    (a, b) => fraction(b) - fraction(a) || (current.get(b) ?? 0) - (current.get(a) ?? 0) || (a < b ? -1 : 1),
  );
  for (const c of order) {
    if (left === 0) break;
    parts.set(c, (parts.get(c) ?? 0) + 1);
    left--;
  }
  return parts;
}

/** Ordinals `[start, end)`. */
export interface Range {
  start: number;
  end: number;
}

export const emptyRange: Range = { start: 0, end: 0 };
export const sizeOf = ({ start, end }: Range): number => Math.max(0, end - start);

export function hull(a: Range, b: Range): Range {
  if (sizeOf(b) === 0) return a;
  if (sizeOf(a) === 0) return b;
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

export function clip(range: Range, to: Range): Range {
  const start = Math.max(range.start, to.start);
  return { start, end: Math.max(start, Math.min(range.end, to.end)) };
}

export function covers(outer: Range, inner: Range): boolean {
  return sizeOf(inner) === 0 || (outer.start <= inner.start && inner.end <= outer.end);
}

interface Layout {
  sizes?: ReadonlyMap<string, number> | undefined;
  anew?: boolean | undefined;
}

/**
 * Disjoint ranges that together are `[first, first + total)`. While the clusters stay the same, growing and
 * shrinking happen at the highest ordinals, as in one StatefulSet; when they change, sizes are divided anew,
 * those who stay keep their order and newcomers fill the end that has become free. `sizes` are then had instead of equal
 * ones, and where it is to be laid out `anew`, while the clusters stay the same, too.
 */
export function divideRanges(
  whole: Range,
  clusters: readonly string[],
  current: ReadonlyMap<string, Range>,
  { sizes: asked, anew = false }: Layout = {},
): Map<string, Range> {
  const staying = clusters
    .filter((c) => current.has(c))
    .sort((a, b) => startOf(current, a) - startOf(current, b) || (a < b ? -1 : 1));
  const newcomers = clusters.filter((c) => !current.has(c)).sort();
  if (newcomers.length === 0 && !(anew && asked) && isContiguous(staying, current, whole.start)) {
    return resizeAtEnd(whole, staying, current);
  }
  const had = new Map([...current].map(([c, range]) => [c, sizeOf(range)]));
  const sizes = asked ?? divide(sizeOf(whole), clusters, had);
  const firstStays = staying[0] !== undefined && startOf(current, staying[0]) > whole.start;
  return layOut(whole.start, firstStays ? [...newcomers, ...staying] : [...staying, ...newcomers], sizes);
}

function startOf(ranges: ReadonlyMap<string, Range>, cluster: string): number {
  return ranges.get(cluster)?.start ?? 0;
}

/** The ranges of `order` follow one another from `first` on, without a gap. */
function isContiguous(order: readonly string[], ranges: ReadonlyMap<string, Range>, first: number): boolean {
  let next = first;
  for (const c of order) {
    const range = ranges.get(c) ?? emptyRange;
    if (sizeOf(range) === 0) continue;
    if (range.start !== next) return false;
    next = range.end;
  }
  return next > first;
}

function resizeAtEnd(
  whole: Range,
  order: readonly string[],
  current: ReadonlyMap<string, Range>,
): Map<string, Range> {
  const parts = new Map(order.map((c) => [c, clip(current.get(c) ?? emptyRange, whole)]));
  const last = order.findLast((c) => sizeOf(current.get(c) ?? emptyRange) > 0);
  const range = last === undefined ? undefined : parts.get(last);
  if (last === undefined || !range) return parts;
  const reached = Math.max(...[...parts.values()].map((r) => (sizeOf(r) > 0 ? r.end : whole.start)));
  if (reached < whole.end) parts.set(last, { start: range.start, end: whole.end });
  return parts;
}

function layOut(
  first: number,
  order: readonly string[],
  sizes: ReadonlyMap<string, number>,
): Map<string, Range> {
  const parts = new Map<string, Range>();
  let next = first;
  for (const c of order) {
    const start = next;
    next += sizes.get(c) ?? 0;
    parts.set(c, { start, end: next });
  }
  return parts;
}
