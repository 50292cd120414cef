const nanosecond = 1n;
const second = 1_000_000_000n;
const units: readonly (readonly [RegExp, bigint])[] = [
  [/^(ns|nano.*)$/i, nanosecond],
  [/^(us|µs|micro.*)$/i, 1000n],
  [/^(ms|milli.*)$/i, 1_000_000n],
  [/^(s|sec.*)$/i, second],
  [/^(m|min.*)$/i, 60n * second],
  [/^(h|hr|hour.*)$/i, 3600n * second],
  [/^(d|day.*)$/i, 86_400n * second],
  [/^(w|wk|week.*)$/i, 604_800n * second],
];

/**
 * What the format `duration` is beside Go's durations, in nanoseconds: numbers with a unit anywhere in the text, as in
 * `3 days`; undefined where there are none.
 */
export function looseDuration(value: string): bigint | undefined {
  let sum: bigint | undefined;
  for (const [, count = '', unit = ''] of value.matchAll(/(\d+)\s*([A-Za-zµ]*)/g)) {
    if (unit === '') continue;
    if (count.length > 100 || BigInt(count) > 2n ** 63n - 1n) return undefined;
    const [, size] = units.find(([name]) => name.test(unit)) ?? [];
    if (size !== undefined) sum = (sum ?? 0n) + BigInt(count) * size;
  }
  return sum === undefined ? undefined : BigInt.asIntN(64, sum);
}
