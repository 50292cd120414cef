/** What changed between two values, in lines of a unified diff, as kube-apiserver shows it in messages. */
export function jsonDiff(before: unknown, after: unknown): string {
  return unified(lines(before), lines(after));
}

function lines(value: unknown): string[] {
  const text = JSON.stringify(value, bigints, 1) ?? 'null';
  return text
    .replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .split('\n');
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** `size` lines of a, from `a` on, are those of b from `b` on. */
interface Match {
  a: number;
  b: number;
  size: number;
}

/** Lines of a and of b that stand for each other; `equal` when they are the same. */
interface Change {
  equal: boolean;
  a: readonly [number, number];
  b: readonly [number, number];
}

const context = 3;
/** Above it the ends that are the same are put aside first: the search is quadratic. */
const longText = 4000;

function unified(a: string[], b: string[]): string {
  const out: string[] = [];
  for (const group of grouped(changes(a, b))) {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) continue;
    out.push(`@@ -${range(first.a[0], last.a[1])} +${range(first.b[0], last.b[1])} @@`);
    for (const change of group) {
      for (const line of a.slice(...change.a)) out.push(`${change.equal ? ' ' : '-'}${line}`);
      if (!change.equal) for (const line of b.slice(...change.b)) out.push(`+${line}`);
    }
  }
  return out.map((line) => `${line}\n`).join('');
}

function range(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

function changes(a: string[], b: string[]): Change[] {
  const found: Change[] = [];
  let [i, j] = [0, 0];
  for (const match of [...matches(a, b), { a: a.length, b: b.length, size: 0 }]) {
    if (i < match.a || j < match.b) found.push({ equal: false, a: [i, match.a], b: [j, match.b] });
    [i, j] = [match.a + match.size, match.b + match.size];
    if (match.size > 0) found.push({ equal: true, a: [match.a, i], b: [match.b, j] });
  }
  return found;
}

/** Changes that are near each other, with the lines around them. */
function grouped(all: Change[]): Change[][] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [index, change] of all.entries()) {
    const [[i1, i2], [j1, j2]] = [change.a, change.b];
    if (!change.equal) {
      group.push(change);
      continue;
    }
    const head = Math.min(i2 - i1, context);
    const [first, last] = [index === 0, index === all.length - 1];
    const far = i2 - i1 > 2 * context;
    if (!first && (last || far)) group.push({ equal: true, a: [i1, i1 + head], b: [j1, j1 + head] });
    if (!first && !last && !far) group.push(change);
    if (!first && far && !last) {
      groups.push(group);
      group = [];
    }
    if (!last && (first || far)) group.push({ equal: true, a: [i2 - head, i2], b: [j2 - head, j2] });
  }
  if (group.some((change) => !change.equal)) groups.push(group);
  return groups;
}

/** The longest run of common lines, and so on before and after it. Lines that a long text has often start no run. */
function matches(a: string[], b: string[]): Match[] {
  let [start, end] = [0, 0];
  if (a.length + b.length > longText) {
    const most = Math.min(a.length, b.length);
    while (start < most && a[start] === b[start]) start++;
    while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    if (a.length + b.length - 2 * (start + end) > longText) return ends(a, b, start, end);
  }
  const places = placesOf(b);
  const found: Match[] = [];
  const todo: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let next = todo.pop(); next; next = todo.pop()) {
    const [alo, ahi, blo, bhi] = next;
    const match = longest(a, b, places, next);
    if (match.size === 0) continue;
    found.push(match);
    if (alo < match.a && blo < match.b) todo.push([alo, match.a, blo, match.b]);
    const [i, j] = [match.a + match.size, match.b + match.size];
    if (i < ahi && j < bhi) todo.push([i, ahi, j, bhi]);
  }
  return joined(found.sort((x, y) => x.a - y.a));
}

function ends(a: string[], b: string[], start: number, end: number): Match[] {
  const tail = { a: a.length - end, b: b.length - end, size: end };
  return [{ a: 0, b: 0, size: start }, tail].filter(({ size }) => size > 0);
}

function placesOf(b: string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of b.entries()) {
    const list = places.get(line);
    if (list) list.push(index);
    else places.set(line, [index]);
  }
  if (b.length < 200) return places;
  const often = Math.floor(b.length / 100) + 1;
  for (const [line, list] of places) if (list.length > often) places.delete(line);
  return places;
}

function longest(
  a: string[],
  b: string[],
  places: ReadonlyMap<string, number[]>,
  [alo, ahi, blo, bhi]: [number, number, number, number],
): Match {
  let best: Match = { a: alo, b: blo, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = alo; i < ahi; i++) {
    const now = new Map<number, number>();
    for (const j of places.get(a[i] ?? '') ?? []) {
      if (j < blo) continue;
      if (j >= bhi) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      now.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = now;
  }
  let { a: i, b: j, size } = best;
  while (i > alo && j > blo && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < ahi && j + size < bhi && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

function joined(found: Match[]): Match[] {
  const out: Match[] = [];
  for (const match of found) {
    const last = out.at(-1);
    if (last && last.a + last.size === match.a && last.b + last.size === match.b) last.size += match.size;
    else out.push({ ...match });
  }
  return out;
}
