import { type Change, describeChange } from './history.ts';
import type { Line } from './journal.ts';

interface Watch {
  readonly id: string;
  /** What it should be told, in order. */
  readonly expected: readonly Change[];
  told: number;
}

/**
 * Every watch was told exactly the changes of its range after its revision, in order, each once, up to some
 * point; and at a mark (a bookmark) everything up to the mark. `changes` is what happened, in order.
 */
export function checkWatches(lines: readonly Line[], changes: ReadonlyMap<number, Change>): string[] {
  const failures: string[] = [];
  const watches = new Map<string, Watch>();
  const broken = new Set<string>();
  const fail = (id: string, text: string): void => {
    // What follows a first wrong event says nothing new.
    if (!broken.has(id)) failures.push(`watch ${id} ${text}`);
    broken.add(id);
  };
  for (const line of lines) {
    if (line[0] === 'watch') {
      const [, id, start, end, after] = line;
      const expected = [...changes.values()].filter(
        ({ key, revision }) => revision > after && key >= start && key < end,
      );
      watches.set(id, { id, expected, told: 0 });
    } else if (line[0] === 'event') {
      const watch = need(watches, line[1]);
      const next = watch.expected[watch.told++];
      const change = describeChange(line[2]);
      if (next === undefined) fail(watch.id, `was told something outside of its range: ${change}`);
      else if (describeChange(next) !== change) {
        fail(watch.id, `was told ${change}; next was ${describeChange(next)}`);
      }
    } else if (line[0] === 'mark') {
      const [, id, revision] = line;
      const watch = need(watches, id);
      const next = watch.expected[watch.told];
      if (next !== undefined && next.revision <= revision) {
        fail(id, `got a bookmark at ${revision} before ${describeChange(next)}`);
      }
      const last = watch.expected[watch.told - 1];
      if (last !== undefined && last.revision > revision) {
        fail(id, `got a bookmark at ${revision} after ${describeChange(last)}`);
      }
    }
  }
  return failures;
}

function need(watches: ReadonlyMap<string, Watch>, id: string): Watch {
  const watch = watches.get(id);
  if (watch === undefined) throw new Error(`watch ${id} was told something before it began`);
  return watch;
}
