import { expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { listPages } from '../../../client/pages.ts';
import type { Query } from '../../../client/url.ts';

/** Of objects so large that `most` are all that one answer may hold. */
function server(count: number, most: number) {
  const asked: unknown[] = [];
  const read = async ({ limit, continue: from = '0' }: Query) => {
    asked.push(limit);
    const end = Math.min(count, Number(from) + Number(limit));
    if (end - Number(from) > most) throw new TransportError('ETOOLARGE', 'the answer is too long');
    const items = Array.from({ length: end - Number(from) }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: String(Number(from) + i) },
    }));
    const metadata = { resourceVersion: '7', ...(end < count && { continue: String(end) }) };
    return { apiVersion: 'v1', kind: 'ConfigMapList', metadata, items };
  };
  return { asked, read };
}

test('objects that are too many for one answer together are read in shorter pages', async () => {
  const { asked, read } = server(1000, 130);
  const { items } = await listPages(read, 500, undefined);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 1000 }, (_, i) => String(i)),
  );
  expect(asked).toEqual([500, ...Array.from({ length: 8 }, () => 125)]);
});

test('one that is too large by itself fails, and so does what is no matter of length', async () => {
  const { asked, read } = server(3, 0);
  await expect(listPages(read, 10, undefined)).rejects.toMatchObject({ code: 'ETOOLARGE' });
  expect(asked).toEqual([10, 2, 1]);
  const reset = async () => Promise.reject(new TransportError('ECONNRESET', 'reset'));
  await expect(listPages(reset, 10, undefined)).rejects.toMatchObject({ code: 'ECONNRESET' });
});
