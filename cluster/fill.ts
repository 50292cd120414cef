import { getOwn } from '../kube/untyped.ts';

/** What has come to a second cluster goes back only where this part of the first ones' room stays free then. */
const freePart = 10;

/** Whether one pod stays behind where all but fits without it: else it would come and go with each pod more or less. */
export function staysBehind(total: number, roomBefore: number): boolean {
  return total > 0 && Number.isFinite(roomBefore) && total > roomBefore - roomBefore / freePart;
}

/** Leaves one pod of the last that has more than one to `name`, which has none. False where there is no such one. */
export function keepOne(filled: Map<string, number>, name: string): boolean {
  const last = [...filled].findLast(([, n]) => n > 1);
  if (!last) return false;
  filled.set(last[0], last[1] - 1);
  filled.set(name, 1);
  return true;
}

/**
 * What is left where there are fewer than were filled in: first what there is no room for goes, then of the last as many as
 * can. As who fills them decides it then, so that no pod goes from where it is only to come back.
 */
export function fewerInOrder(
  total: number,
  parts: ReadonlyMap<string, number>,
  { order, most = {} }: { order: readonly string[]; most?: Readonly<Record<string, number>> | undefined },
): Map<string, number> {
  const filled = new Map<string, number>();
  let [left, roomBefore] = [total, 0];
  const names = [...order, ...parts.keys()].filter((name) => parts.has(name));
  const roomOn = (name: string) => getOwn(most, name) ?? Number.POSITIVE_INFINITY;
  for (const name of new Set(names)) {
    const had = Math.min(parts.get(name) ?? 0, roomOn(name));
    const n = Math.min(left, had);
    filled.set(name, n);
    if (n === 0 && had > 0 && staysBehind(total, roomBefore)) keepOne(filled, name);
    left -= n;
    roomBefore += roomOn(name);
  }
  for (const [name, n] of filled) {
    const more = Math.min(left, (parts.get(name) ?? 0) - n);
    filled.set(name, n + more);
    left -= more;
  }
  return filled;
}

/**
 * What comes where there are more than were filled in: to each in turn as many as it has room for, what has room nowhere to
 * the first. As who fills them decides it then: no pod comes to one that takes nothing new, only to go again or to be kept there.
 */
export function moreInOrder(
  total: number,
  parts: ReadonlyMap<string, number>,
  { order, most = {} }: { order: readonly string[]; most?: Readonly<Record<string, number>> | undefined },
): Map<string, number> {
  const filled = new Map(parts);
  let left = total - [...parts.values()].reduce((sum, n) => sum + n, 0);
  const names = new Set([...order, ...parts.keys()].filter((name) => parts.has(name)));
  const add = (name: string, more: number) => {
    filled.set(name, (filled.get(name) ?? 0) + more);
    left -= more;
  };
  for (const name of names) {
    const room = (getOwn(most, name) ?? Number.POSITIVE_INFINITY) - (parts.get(name) ?? 0);
    add(name, Math.min(left, Math.max(0, room)));
  }
  const [first] = names;
  if (first !== undefined) add(first, left);
  return filled;
}
