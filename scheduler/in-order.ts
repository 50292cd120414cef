import { keepOne, staysBehind } from '../cluster/fill.ts';
import type { Situation } from './judge.ts';
import type { Place } from './room.ts';
import { best } from './score.ts';

/** Where it is: what it came to first comes first; of what nobody has written down, where the most of it is. */
export function inOrder(places: readonly Place[], { filled = [] }: Situation): Place[] {
  const at = ({ candidate: { name } }: Place) => {
    const found = filled.findIndex(({ cluster }) => cluster === name);
    return found < 0 ? filled.length : found;
  };
  const names = (a: Place, b: Place) => (a.candidate.name < b.candidate.name ? -1 : 1);
  return places
    .filter(({ candidate: { isThere } }) => isThere)
    .sort((a, b) => at(a) - at(b) || b.had - a.had || names(a, b));
}

interface Order {
  groups: readonly (readonly Place[])[];
  /** Where it is, as they come. */
  there: readonly Place[];
  rest: ReadonlyMap<string, number>;
}

/** How many pods each takes, in the order in which they are filled; whoever takes none is not among them. `keeps`: who is left late. */
export function fill(total: number, order: Order): { filled: Map<string, number>; keeps?: string } {
  const filled = new Map<string, number>();
  let [left, roomBefore] = [total, 0];
  let keeps: string | undefined;
  for (const group of order.groups) {
    const waiting = new Set(group);
    for (;;) {
      const next = nextOf(waiting, left, order);
      if (!next) break;
      waiting.delete(next);
      const { name } = next.candidate;
      const n = Math.min(left, next.room);
      if (n > 0) filled.set(name, n);
      else if (next.had > 0 && next.room > 0 && staysBehind(total, roomBefore))
        keeps = keepOne(filled, name) ? name : keeps;
      left -= n;
      roomBefore += next.room;
    }
  }
  if (total > 0 || filled.size > 0) return { filled, ...(keeps !== undefined && { keeps }) };
  // Of nothing, all is where it is.
  const grouped = new Set(order.groups.flat());
  const [first] = [
    ...order.there.filter((place) => grouped.has(place)),
    ...order.groups.flatMap((group) => nextOf(new Set(group), 1, order) ?? []),
  ];
  return { filled: new Map(first ? [[first.candidate.name, 0]] : []) };
}

/** Where it is; then one that takes all that is left; then where most fits. */
function nextOf(among: ReadonlySet<Place>, left: number, { there, rest }: Order): Place | undefined {
  const first = there.find((place) => among.has(place));
  if (first) return first;
  if (left === 0) return undefined;
  const others = [...among].filter(({ room }) => room > 0);
  const whole = others.filter(({ room }) => room >= left);
  const most = Math.max(...others.map(({ room }) => room));
  const from = whole.length > 0 ? whole : others.filter(({ room }) => room === most);
  const ofRest = ({ candidate: { name } }: Place) => rest.get(name) ?? 0;
  const highest = Math.max(...from.map(ofRest));
  const near = from.filter((place) => ofRest(place) === highest);
  const chosen = best(near.map(({ candidate }) => candidate));
  return near.find(({ candidate }) => candidate === chosen);
}
