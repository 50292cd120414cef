import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import { listPages } from '../../../client/pages.ts';
import type { Query } from '../../../client/url.ts';
import { StatusError } from '../../../kube/status.ts';

/** Of objects so large that `most` are all that one answer may hold; `forgets` so often what it was asked before. */
function server(count: number, most: number, forgets = 0) {
  const asked: unknown[] = [];
  let left = forgets;
  const read = async ({ limit = count, continue: from = '0' }: Query) => {
    asked.push(limit);
    if (from !== '0' && left-- > 0) throw new StatusError(410, 'Expired', 'too old');
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

const namesOf = (count: number) => Array.from({ length: count }, (_, i) => String(i));

test('a list that is forgotten half-way is read in one piece; where that is too large in pages again, a few times', async () => {
  const small = server(20, 20, 1);
  const list = await listPages(small.read, 10, undefined);
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(namesOf(20));
  expect(small.asked).toEqual([10, 10, 20]);

  const large = server(20, 10, 2);
  const again = await listPages(large.read, 10, undefined);
  expect(again.items.map(({ metadata }) => metadata.name)).toEqual(namesOf(20));
  expect(large.asked).toEqual([10, 10, 20, 10, 10, 10, 10]);

  // That pages had to be shorter says as much.
  const larger = server(20, 5, 1);
  expect((await listPages(larger.read, 16, undefined)).items).toHaveLength(20);
  expect(larger.asked).toEqual([16, 4, 4, 4, 4, 4, 4, 4]);

  await expect(listPages(server(20, 10, 99).read, 10, undefined)).rejects.toMatchObject({
    reason: 'Expired',
  });
});

test('a list without end fails after so many bytes, and after so many pages without anything', async () => {
  let pages = 0;
  const endless = (items: object[]) => {
    pages = 0;
    return new Client(
      async () => {
        pages++;
        const list = { kind: 'PodList', apiVersion: 'v1', metadata: { continue: 'more' }, items };
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(list)) };
      },
      { mostListBytes: 1 << 20 },
    );
  };
  const pods = { group: '', version: 'v1', resource: 'pods' };
  await expect(endless([]).list(pods)).rejects.toMatchObject({ code: 'EENDLESS' });
  expect(pages).toBe(5);
  await expect(endless([{ metadata: { name: 'a'.repeat(300_000) } }]).list(pods)).rejects.toMatchObject({
    code: 'EENDLESS',
  });
  expect(pages).toBe(4);
});
