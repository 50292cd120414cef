import type { PlannedItem } from './plan.ts';

/** Of what goes along with workloads nobody wants to read but what is blocked. */
export function isShown({ workload, outcome }: PlannedItem): boolean {
  return workload || outcome === 'blocked';
}

/** Of what is blocked, all that speaks against each cluster; else why it leaves where it is, and why it is to be elsewhere. */
export function whyOf({ outcome, from, to, reasons }: PlannedItem): string {
  const entries = Object.entries(reasons);
  if (outcome === 'blocked') {
    const ownFirst = entries.sort(([a], [b]) => Number(from.includes(b)) - Number(from.includes(a)));
    return ownFirst.map(sentence).join('; ');
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

/** Nothing of what spreads, or gathers where it is already, leaves for a place where it was not. */
function moved(from: readonly string[], to: readonly string[]): string {
  const joined = to.filter((name) => !from.includes(name));
  const left = from.filter((name) => !to.includes(name));
  if (left.length === 0) return `spreads from ${from.join(', ')} to ${joined.join(', ')} too`;
  if (joined.length === 0) return `leaves ${left.join(', ')} for ${to.join(', ')}, where it is already`;
  return `moves from ${from.join(', ')} to ${to.join(', ')}`;
}

/** What is said of a plan in Warning headers: at most so many lines, of at most so many characters. */
export const mostLines = 10;
const longestLine = 240;

/** What a change would move, to whoever sent it as a dry run. `here` is the id of their logical cluster. */
export function linesOf(items: readonly PlannedItem[], here: string): string[] {
  const shown = items.filter((item) => isShown(item) && item.outcome !== 'stays');
  if (shown.length === 0) return ['plan: nothing would be placed otherwise'];
  const lines = shown.slice(0, mostLines).map((item) => {
    const { logicalCluster, namespace, object, outcome, from, to } = item;
    const where = logicalCluster === here ? namespace : `${logicalCluster}/${namespace}`;
    const path: Record<PlannedItem['outcome'], string> = {
      moves: moved(from, to),
      starts: `starts on ${to.join(', ')}`,
      leaves: `leaves ${from.join(', ')}`,
      blocked: `is blocked${from.length > 0 ? ` on ${from.join(', ')}` : ''}`,
      stays: 'stays',
    };
    const why = whyOf(item);
    const line = `plan: ${where}/${object} ${path[outcome]}${why === '' ? '' : `: ${why}`}`;
    return line.length > longestLine ? `${line.slice(0, longestLine - 3)}...` : line;
  });
  const more = shown.length - lines.length;
  return more > 0 ? [...lines, `plan: and ${more} more; atoll plan tells all of them`] : lines;
}
