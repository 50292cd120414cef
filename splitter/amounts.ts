export type Amounts = ReadonlyMap<string, bigint>;

const none = 0n;
const amountAt = (amounts: Amounts, c: string) => amounts.get(c) ?? none;
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * To each what it uses already, as far as that goes; of the rest first what is wanted beyond that, by whole `step`s, what one pod
 * uses, where there is not enough: part of one is of no use to anybody; what nobody wants in proportion to what each has. The
 * parts are whole units and add up to `whole`.
 */
export function divideAmount(
  whole: bigint,
  clusters: readonly string[],
  { wanted, used, step = 1n }: { wanted: Amounts; used: Amounts; step?: bigint },
): Map<string, bigint> {
  const parts = new Map(clusters.map((c) => [c, none]));
  let left = whole;
  const give = (weights: Amounts, by: bigint) => {
    const asked = sum(clusters, weights);
    const each = left < asked ? by : 1n;
    const given = proportional(smaller(left, asked) / each, clusters, weights);
    for (const c of clusters) parts.set(c, amountAt(parts, c) + amountAt(given, c) * each);
    left -= sum(clusters, given) * each;
  };
  give(used, 1n);
  give(new Map(clusters.map((c) => [c, larger(none, amountAt(wanted, c) - amountAt(parts, c))])), step);
  const weights = sum(clusters, parts) > none ? parts : new Map(clusters.map((c) => [c, 1n]));
  const rest = proportional(left, clusters, weights);
  return new Map(clusters.map((c) => [c, amountAt(parts, c) + amountAt(rest, c)]));
}

/** Largest remainder; ties go by name. All of it, unless nothing has weight. */
function proportional(whole: bigint, clusters: readonly string[], weights: Amounts): Map<string, bigint> {
  const all = sum(clusters, weights);
  if (all === none) return new Map(clusters.map((c) => [c, none]));
  const share = (c: string) => whole * amountAt(weights, c);
  const parts = new Map(clusters.map((c) => [c, share(c) / all]));
  let left = whole - sum(clusters, parts);
  const remainder = (c: string) => share(c) % all;
  const order = [...clusters].sort((a, b) =>
    remainder(a) === remainder(b) ? (a < b ? -1 : 1) : remainder(a) > remainder(b) ? -1 : 1,
  );
  for (const c of order) {
    if (left === none) break;
    parts.set(c, amountAt(parts, c) + 1n);
    left--;
  }
  return parts;
}

/** The largest amount that all of these are multiples of; 1 of none. */
export function commonStep(amounts: Iterable<bigint>): bigint {
  let step = none;
  for (const amount of amounts) step = divisor(step, amount);
  return larger(step, 1n);
}

function divisor(a: bigint, b: bigint): bigint {
  return b === none ? a : divisor(b, a % b);
}

function sum(clusters: readonly string[], amounts: Amounts): bigint {
  return clusters.reduce((all, c) => all + amountAt(amounts, c), none);
}

interface Bounds {
  whole: bigint;
  goal: Amounts;
  /** What each was given last, what its cluster says that it heeds, and what it uses. */
  had: Amounts;
  said: Amounts;
  used: Amounts;
}

/** Who is to have less has it at once; who is to have more gets of it what nobody can still use. */
export function raise({ whole, goal, had, said, used }: Bounds, clusters: readonly string[]): Amounts {
  const next = new Map(clusters.map((c) => [c, smaller(amountAt(goal, c), amountAt(had, c))]));
  const held = (c: string) => larger(amountAt(used, c), larger(amountAt(next, c), amountAt(said, c)));
  let left = whole - clusters.reduce((all, c) => all + held(c), none);
  for (const c of clusters) {
    const mine = held(c);
    const more = smaller(amountAt(goal, c), mine + larger(none, left));
    left -= larger(none, more - mine);
    next.set(c, larger(amountAt(next, c), more));
  }
  return next;
}
