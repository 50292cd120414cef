import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const docs = await readdir(join(root, 'docs'), { recursive: true });
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file)),
];

/** Targets of Markdown links that point into the repository, without their fragments. */
function links(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^([a-z]+:|#)/i.test(target))
    .map((target) => decodeURIComponent(target.replace(/[#?].*$/, '')));
}

describe('the documentation', () => {
  test('is found', () => {
    expect(pages).toContain(join('docs', 'flow.md'));
    expect(links('see [a](b.md#c), ![d](../e.png "f"), [g](https://h.example) and [i](#j)')).toEqual([
      'b.md',
      '../e.png',
    ]);
  });

  test.each(pages)('%s links only to files that exist', async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    const broken = links(text).filter((target) => {
      const file = resolve(root, dirname(page), target);
      return relative(root, file).startsWith('..') || !existsSync(file);
    });
    expect(broken).toEqual([]);
  });
});
