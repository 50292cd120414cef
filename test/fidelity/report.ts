import { explanationOf } from './accepted.ts';
import type { Area } from './case.ts';
import type { Found } from './runner.ts';

interface Group {
  count: number;
  sample: Found;
  ids: Set<string>;
}

/** Differences that look alike, the most frequent first. */
export function grouped(found: readonly Found[]): Group[] {
  const groups = new Map<string, Group>();
  for (const item of found) {
    const key = [item.path, item.kubernetes, item.atoll].map(general).join('\n');
    const group = groups.get(key) ?? { count: 0, sample: item, ids: new Set() };
    group.count++;
    group.ids.add(item.case.id);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** What names one kind's own fields and values counts as alike. */
function general(text: string): string {
  return text
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/\d+/g, '0')
    .slice(0, 200);
}

export function printArea(area: Area, requests: number, found: readonly Found[], most: number): void {
  const differing = new Set(found.map((item) => `${item.case.id} ${item.step}`)).size;
  process.stdout.write(`\n== ${area}: ${differing} of ${requests} requests differ\n`);
  for (const { count, sample, ids } of grouped(found).slice(0, most)) {
    process.stdout.write(
      `${String(count).padStart(5)}  ${sample.request}  ${sample.path}   [${[...ids].slice(0, 3).join(' ')}${ids.size > 3 ? ` and ${ids.size - 3} more` : ''}] step ${sample.step}\n` +
        `         kubernetes: ${cut(sample.kubernetes)}\n         atoll:      ${cut(sample.atoll)}\n`,
    );
  }
}

/** How often each accepted difference was seen. */
export function printExplained(found: readonly Found[]): void {
  const counts = new Map<string, number>();
  for (const item of found) {
    const id = explanationOf(item)?.id ?? '';
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const list = [...counts].sort((a, b) => b[1] - a[1]).map(([id, count]) => `${id} ${count}`);
  process.stdout.write(`\nexplained: ${list.join(', ') || 'none'}\n`);
}

function cut(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
