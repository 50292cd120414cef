import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const page = await readFile(join(root, 'docs/reference/promises.md'), 'utf8');

/** `| promise | file > name; file > name |`: the tests that hold each promise. */
const rows = page
  .split('\n')
  .filter((line) => /^\|.*>.*\|$/.test(line) && !line.startsWith('|--'))
  .map((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { promise: cells.at(-3) ?? '', held: (cells.at(-2) ?? '').split(/;\s+(?=`?test\/)/) };
  });

test('promises are found', () => {
  expect(rows.length).toBeGreaterThan(30);
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
