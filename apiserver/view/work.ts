import type { ShareEvent } from './told-beside.ts';

/** What is to be told of an event that came in, in the order in which those came. */
export type Work = () => Promise<ShareEvent[]>;

export function both(one: Work | undefined, other: Work | undefined): Work | undefined {
  if (!one || !other) return one ?? other;
  return async () => [...(await one()), ...(await other())];
}

/** Of all at once. */
export async function tellAll<T>(
  items: readonly T[],
  tell: (item: T) => Promise<ShareEvent | undefined>,
): Promise<ShareEvent[]> {
  return (await Promise.all(items.map(tell))).filter((event) => event !== undefined);
}
