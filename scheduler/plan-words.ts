import { deepEqual } from '../kube/deep.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Counts, PlannedItem } from './plan-items.ts';

/** Of what goes along with workloads nobody wants to read but what is blocked. */
export function isShown({ workload, outcome }: PlannedItem): boolean {
  return workload || outcome === 'blocked';
}

/**
 * Of what is blocked, all that speaks against each cluster, and whether it keeps others from a rebalance; else why it leaves where it
 * is, and why it is to be elsewhere. First what it lacks where it stays, last whom it waits for.
 */
export function whyOf(item: PlannedItem): string {
  const lacks = Object.entries(item.lacks ?? {}).map(sentence);
  const awaited = (item.awaits ?? []).map((which) => `waiting for ${which}`);
  return [...lacks, decided(item), ...awaited].filter((why) => why !== '').join('; ');
}

function decided({ outcome, from, to, reasons, kept }: PlannedItem): string {
  if (outcome === 'stays' && kept !== undefined) return kept;
  const entries = Object.entries(reasons);
  if (outcome === 'blocked') {
    const ownFirst = entries.sort(([a], [b]) => Number(from.includes(b)) - Number(from.includes(a)));
    const keeps = kept === undefined ? [] : [`its Namespace stays: ${kept}`];
    return [...ownFirst.map(sentence), ...keeps].join('; ');
  }
  const newcomers = to.filter((name) => !from.includes(name));
  const told = newcomers.length > 0 ? newcomers : to;
  // Where somebody has asked for other clusters, nothing is said of those that it leaves.
  const left = entries.filter(([name]) => from.includes(name) && !to.includes(name));
  const joined = entries.filter(([name]) => told.includes(name));
  if (left.length > 0) return [...left, ...joined].map(sentence).join('; ');
  return [...new Set(told.flatMap((name) => reasons[name] ?? []))].join('; ');
}

function sentence([name, why]: [string, string]): string {
  return `${name}: ${why}`;
}

export const outcomeWords = ['moves', 'spreads', 'shifts', 'leaves', 'starts', 'stays', 'blocked'] as const;

/**
 * What becomes of it, in a word. Nothing of what spreads, or leaves for where it is already, goes to a place where it was not;
 * what shifts is where it was, in other numbers.
 */
export function wordOf({ outcome, from, to }: PlannedItem): (typeof outcomeWords)[number] {
  if (outcome !== 'moves') return outcome;
  const isLeft = from.some((name) => !to.includes(name));
  const isJoined = to.some((name) => !from.includes(name));
  if (isLeft) return isJoined ? 'moves' : 'leaves';
  return isJoined ? 'spreads' : 'shifts';
}

/** Where it is and where it is to be; with how many replicas, where that is more than its name says. */
export function placesOf(item: PlannedItem): { from: string; to: string; isCounted: boolean } {
  const { from, to, replicas } = item;
  const isApart = from.length > 1 || to.length > 1;
  const isSame = deepEqual(from, to) && deepEqual(replicas?.from, replicas?.to);
  const isCounted = replicas !== undefined && to.length > 0 && (isApart || deepEqual(from, to)) && !isSame;
  const cell = (names: readonly string[], counts: Counts = {}) =>
    names.map((name) => {
      const count = isCounted ? getOwn(counts, name) : undefined;
      return count === undefined ? name : `${name}=${count}`;
    });
  return { from: cell(from, replicas?.from).join(','), to: cell(to, replicas?.to).join(','), isCounted };
}

function moved(item: PlannedItem): string {
  const { from, to } = item;
  const joined = to.filter((name) => !from.includes(name));
  const left = from.filter((name) => !to.includes(name));
  switch (wordOf(item)) {
    case 'spreads':
      return `spreads from ${from.join(', ')} to ${joined.join(', ')} too`;
    case 'leaves':
      return `leaves ${left.join(', ')} for ${to.join(', ')}, where it is already`;
    case 'shifts':
      return `shifts on ${to.join(', ')}`;
    default:
      return `moves from ${from.join(', ')} to ${to.join(', ')}`;
  }
}

/** What is said of a plan in Warning headers: at most so many lines, of at most so many characters. */
export const mostLines = 10;
const longestLine = 240;

/**
 * Of what is said in parts, `a; b; c`, at most so many characters: the first parts, which are the cause, and the last, which is what is
 * waited for or what can be done; how many were left out stands between.
 */
export function shortened(text: string, most = longestLine): string {
  if (text.length <= most) return text;
  const parts = text.split('; ');
  const last = parts.length > 1 ? (parts.pop() ?? '') : '';
  for (let kept = parts.length - 1; kept > 0; kept--) {
    const said = [...parts.slice(0, kept), `${parts.length - kept} more`, last].join('; ');
    if (said.length <= most) return said;
  }
  const left = parts.length > 1 ? `; ${parts.length - 1} more` : '';
  const room = Math.max(0, most - left.length);
  // Each of the two has half, or what the other leaves.
  const end =
    last === '' ? '' : `; ${clipped(last, Math.max(room >> 1, room - (parts[0] ?? '').length - 2))}`;
  return clipped(`${clipped(parts[0] ?? '', room - end.length)}${left}${end}`, most);
}

function clipped(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, Math.max(0, most - 3))}...`.slice(0, Math.max(0, most));
}

/** What of a plan is told beside a dry run. */
export function toldBeside(items: readonly PlannedItem[]): PlannedItem[] {
  return items.filter((item) => isShown(item) && (item.outcome !== 'stays' || item.lacks));
}

/**
 * What a change would move, to whoever sent it as a dry run. `here` is the id of their logical cluster; others are
 * called as `pathOf` their ids.
 */
export function linesOf(
  items: readonly PlannedItem[],
  here: string,
  pathOf: (id: string) => string = (id) => id,
): string[] {
  const shown = toldBeside(items);
  if (shown.length === 0) return ['plan: nothing would be placed otherwise'];
  const lines = shown.slice(0, mostLines).map((item) => {
    const { logicalCluster, namespace, object, outcome, from, to } = item;
    const where = logicalCluster === here ? namespace : `${pathOf(logicalCluster)}/${namespace}`;
    const places = placesOf(item);
    const counts = places.isCounted ? ` (${places.from} to ${places.to})` : '';
    const path: Record<PlannedItem['outcome'], string> = {
      moves: `${moved(item)}${counts}`,
      starts: `starts on ${places.isCounted ? places.to : to.join(', ')}`,
      leaves: `leaves ${from.join(', ')}`,
      blocked: `is blocked${from.length > 0 ? ` on ${from.join(', ')}${counts}` : ''}`,
      stays: `stays on ${to.join(', ')}${counts}`,
    };
    const why = whyOf(item);
    const head = `plan: ${where}/${object} ${path[outcome]}`;
    const line = why === '' ? head : `${head}: ${shortened(why, longestLine - head.length - 2)}`;
    return line.length > longestLine ? `${line.slice(0, longestLine - 3)}...` : line;
  });
  const more = shown.length - lines.length;
  return more > 0 ? [...lines, `plan: and ${more} more; atoll plan tells all of them`] : lines;
}
