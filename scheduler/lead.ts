/** What one asks for beside it, and what it is itself, by the numbers of what is asked for. */
export interface Tie {
  asks: readonly number[];
  is: ReadonlySet<number>;
}

interface Sort {
  asks: readonly number[];
  is: ReadonlySet<number>;
  /** How many sorts it hangs on, by whatever way, with itself. */
  hangsOn: number;
}

/**
 * What others ask for comes before them. Of those that ask for each other whoever `leads` comes first, and the
 * others follow it.
 */
export function inOrder<T>(all: readonly T[], tieOf: (one: T) => Tie, leads: (a: T, b: T) => number): T[] {
  const sorts = new Map<string, Sort>();
  const having = new Map<number, Sort[]>();
  const sortOf = new Map<T, Sort>();
  for (const one of all) {
    const { asks, is } = tieOf(one);
    const key = `${asks.join()}|${[...is].join()}`;
    const sort = sorts.get(key) ?? { asks, is, hangsOn: 1 };
    if (!sorts.has(key)) for (const n of is) having.set(n, [...(having.get(n) ?? []), sort]);
    sorts.set(key, sort);
    sortOf.set(one, sort);
  }
  for (const sort of sorts.values()) sort.hangsOn = hangsOn(sort, having).size;
  const place = (one: T) => sortOf.get(one)?.hangsOn ?? 0;
  // Whoever hangs on another, and that not on him, hangs on all that the other does, and one more.
  return [...all].sort((a, b) => place(a) - place(b) || leads(a, b));
}

function hangsOn(sort: Sort, having: ReadonlyMap<number, readonly Sort[]>): Set<Sort> {
  const seen = new Set([sort]);
  const asked = new Set<number>();
  // A set that grows while it is walked is walked to its end.
  for (const { asks } of seen)
    for (const n of asks) {
      if (asked.has(n)) continue;
      asked.add(n);
      for (const other of having.get(n) ?? []) seen.add(other);
    }
  return seen;
}
