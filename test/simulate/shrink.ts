/**
 * The fewest items with which it still fails, as far as leaving out halves, quarters and at last single ones shows:
 * none of what remains can be left out alone. `fails` is asked one question after the other, until `signal` aborts.
 */
export async function shrink<T>(
  items: readonly T[],
  fails: (fewer: readonly T[]) => Promise<boolean>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  let least = items;
  for (let size = Math.ceil(items.length / 2); size >= 1 && !signal.aborted; ) {
    const before = least.length;
    for (let from = 0; from < least.length && !signal.aborted; ) {
      const fewer = least.filter((_, i) => i < from || i >= from + size);
      if (await fails(fewer)) least = fewer;
      else from += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (least.length === before) break;
  }
  return least;
}
