/** What one asks for beside it, and what it is itself, by the numbers of what is asked for: few, whoever asks. */
export interface Tie {
  asks: readonly number[];
  is: ReadonlySet<number>;
}

/**
 * What others ask for comes before them. Of those that ask for each other whoever `leads` comes first, and then those that
 * ask for one who has come.
 */
export function inOrder<T>(all: readonly T[], tieOf: (one: T) => Tie, leads: (a: T, b: T) => number): T[] {
  const ties = new Map(all.map((one) => [one, tieOf(one)]));
  const reach = reachOf(ties.values());
  const places = new Map([...ties].map(([one, tie]) => [one, placeOf(tie, reach)]));
  const place = (one: T) => places.get(one) ?? 0;
  const sorted = [...all].sort((a, b) => place(a) - place(b) || leads(a, b));
  return followed(sorted, (one) => ties.get(one) ?? { asks: [], is: new Set() }, place);
}

/** By number, as bits: what whoever is that asks for, and whoever is asked for by it. */
function reachOf(ties: Iterable<Tie>): bigint[] {
  const reach: bigint[] = [];
  for (const { asks, is } of ties) {
    const all = bitsOf(asks);
    if (all > 0n) for (const n of is) reach[n] = (reach[n] ?? 0n) | all;
  }
  for (let k = 0; k < reach.length; k++)
    for (let i = 0; i < reach.length; i++)
      if (has(reach[i] ?? 0n, k)) reach[i] = (reach[i] ?? 0n) | (reach[k] ?? 0n);
  return reach;
}

/**
 * Whoever hangs on another, and that not on him, hangs on all that the other does; and where that is the same, the other is in a ring
 * and he is not.
 */
function placeOf({ asks, is }: Tie, reach: readonly bigint[]): number {
  if (asks.length === 0) return 0;
  const hangsOn = asks.reduce((all, n) => all | (reach[n] ?? 0n), bitsOf(asks));
  const isInRing = [...is].some((n) => has(hangsOn, n));
  return 2 * countOf(hangsOn) + (isInRing ? 0 : 1);
}

/** Within a place: after each those that ask for what it is. */
function followed<T>(sorted: readonly T[], tieOf: (one: T) => Tie, place: (one: T) => number): T[] {
  const asking = new Map<string, T[]>();
  const key = (one: T, n: number) => `${place(one)}/${n}`;
  for (const one of sorted)
    for (const n of tieOf(one).asks) {
      const those = asking.get(key(one, n));
      if (those) those.push(one);
      else asking.set(key(one, n), [one]);
    }
  const order = new Set<T>();
  for (const one of sorted) {
    // A list that grows while it is walked is walked to its end.
    const queue = order.has(one) ? [] : [one];
    for (const next of queue) {
      if (order.has(next)) continue;
      order.add(next);
      for (const n of tieOf(next).is) {
        queue.push(...(asking.get(key(next, n)) ?? []));
        asking.delete(key(next, n));
      }
    }
  }
  return [...order];
}

function bitsOf(numbers: readonly number[]): bigint {
  return numbers.reduce((bits, n) => bits | (1n << BigInt(n)), 0n);
}

function has(bits: bigint, n: number): boolean {
  return ((bits >> BigInt(n)) & 1n) === 1n;
}

function countOf(bits: bigint): number {
  return bits.toString(2).replaceAll('0', '').length;
}
