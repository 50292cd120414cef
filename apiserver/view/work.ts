import { othersFirst } from '../../kube/others-first.ts';
import type { ShareEvent } from './told-beside.ts';

/** A few milliseconds' work. */
const mostAtOnce = 20;

/** What is to be told of an event that came in, in the order in which those came. */
export type Work = () => Promise<ShareEvent[]>;

export function both(one: Work | undefined, other: Work | undefined): Work | undefined {
  if (!one || !other) return one ?? other;
  return async () => [...(await one()), ...(await other())];
}

/** Of each, a few at a time: a logical cluster's event may concern all that it has. */
export async function tellAll<T>(
  items: readonly T[],
  cluster: string,
  tell: (item: T) => Promise<ShareEvent | undefined>,
): Promise<ShareEvent[]> {
  const events: ShareEvent[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % mostAtOnce === 0) await othersFirst(cluster);
    const event = await tell(item);
    if (event) events.push(event);
  }
  return events;
}
