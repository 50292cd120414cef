import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefixRange, type Range } from '../../../storage/store.ts';
import { Versions } from '../../../storage/versions.ts';

const keys = ['/a/', '/a/x', '/a/x/1', '/a/x/2', '/a/x//3', '/a/xy/1', '/ab/x', '/b', 'a/x'];
const ranges: Range[] = [
  ...['/', '/a', '/a/', '/a/x', '/a/x/', '/a/x//', '/ab/', '/b/', 'a/'].map(prefixRange),
  ...keys.map((key) => ({ start: key, end: `${key}\0` })),
  { start: '/a/', end: '/a/x/2' },
  { start: '/a/x', end: '/a/x' },
];
const value = (size: number) => new Uint8Array(size);

const write = fc.record({
  kind: fc.constantFrom('put', 'put', 'delete', 'mend', 'forget', 'ask'),
  key: fc.constantFrom(...keys),
});

describe('what is newest of a small range', () => {
  it.each([
    ['all in memory', Infinity],
    ['most on disk', 3],
  ])('is what a list says, whatever was asked and written before: %s', (_, budget) => {
    const story = fc.array(write, { minLength: 1, maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(story, (writes) => {
        const versions = new Versions(0, { budget });
        for (const { kind, key } of writes) {
          step(versions, kind, key);
          for (const range of ranges) {
            const found = versions.recent(range);
            if (budget === Infinity) expect(found).toBeDefined();
            if (found === undefined) continue;
            const listed = versions.list(range).entries;
            expect(found.map(brief)).toEqual(listed.map(brief));
            // What is remembered is there, though it went to disk meanwhile.
            for (const entry of found) expect(entry.value).toHaveLength(2);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is not looked for again while what changes is elsewhere', () => {
    const versions = new Versions();
    step(versions, 'put', '/a/x/1');
    const found = versions.recent(prefixRange('/a/x/'));
    step(versions, 'put', '/a/xy/1');
    expect(versions.recent(prefixRange('/a/x/'))).toBe(found);
    step(versions, 'put', '/a/x/2');
    expect(versions.recent(prefixRange('/a/x/'))).toHaveLength(2);
    step(versions, 'delete', '/a/x/1');
    expect(versions.recent(prefixRange('/a/x/'))).toHaveLength(1);
  });

  it('stays right when more ranges are asked for than are remembered', () => {
    const versions = new Versions();
    step(versions, 'put', '/a/x/1');
    const found = versions.recent(prefixRange('/a/x/'));
    for (let i = 0; i < 10_000; i++) expect(versions.recent(prefixRange(`/none/${i}/`))).toEqual([]);
    expect(versions.recent(prefixRange('/a/x/'))).toEqual(found);
    step(versions, 'delete', '/a/x/1');
    expect(versions.recent(prefixRange('/a/x/'))).toEqual([]);
  });
});

function step(versions: Versions, kind: string, key: string): void {
  const previous = versions.peek(key);
  const revision = versions.revision + 1;
  const entry = { key, value: value(2), revision, created: previous?.created ?? revision };
  if (kind === 'put') versions.apply({ type: 'put', entry, ...(previous && { previous }) });
  else if (kind === 'delete' && previous) versions.apply({ type: 'delete', entry, previous });
  else if (kind === 'mend' && previous) versions.mend(key, { ...entry, revision: previous.revision });
  else if (kind === 'forget') versions.compact(versions.revision);
}

function brief({ key, revision }: { key: string; revision: number }) {
  return { key, revision };
}
