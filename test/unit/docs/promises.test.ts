import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const pages = await Promise.all(
  ['promises.md', 'attacks.md'].map((page) => readFile(join(root, 'docs/reference', page), 'utf8')),
);

/** `| promise or attack | file > name; file > name |`: the tests that hold each promise, or try each attack. */
const rows = pages
  .join('\n')
  .split('\n')
  .filter((line) => /^\|.*>.*\|$/.test(line) && !line.startsWith('|--'))
  .map((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { promise: cells.at(-3) ?? '', held: (cells.at(-2) ?? '').split(/;\s+(?=`?test\/)/) };
  });

test('promises and attacks are found', () => {
  expect(rows.length).toBeGreaterThan(150);
});

test.each(rows)('$promise', async ({ held }) => {
  expect(held.length).toBeGreaterThan(0);
  for (const one of held) {
    const [file = '', name = ''] = one.replaceAll('`', '').split(' > ');
    expect(existsSync(join(root, file)), file).toBe(true);
    const text = await readFile(join(root, file), 'utf8');
    expect(name).not.toBe('');
    expect(text.replaceAll("\\'", "'"), `${file} has a test named so`).toContain(name.replaceAll('\\|', '|'));
  }
});
