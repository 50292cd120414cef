import { expect, it } from 'vitest';
import type { Connection } from '../../../../storage/etcd/connection.ts';
import { Keys } from '../../../../storage/etcd/keys.ts';
import { readRange } from '../../../../storage/etcd/read.ts';
import type { RangeRequest, RangeResponse } from '../../../../storage/etcd/wire.ts';
import { prefixRange } from '../../../../storage/store.ts';

const keys = new Keys('/atoll');

/** An etcd with `count` values of so many bytes, which answers no page of more than `most`; what it was asked for. */
function etcd(count: number, size: number, most = Infinity) {
  const limits: number[] = [];
  const all = Array.from({ length: count }, (_, i) => {
    const key = keys.data(`/a/${String(i).padStart(4, '0')}`);
    return {
      key,
      value: new Uint8Array(size),
      createRevision: i + 1,
      modRevision: i + 1,
      version: 1,
      lease: 0,
    };
  });
  const answer = ({ key, limit = 0 }: RangeRequest) => {
    limits.push(limit);
    const from = all.filter((kv) => Buffer.compare(kv.key, key) >= 0);
    const kvs = from.slice(0, limit);
    return { header: { revision: count }, kvs, more: kvs.length < from.length, count: from.length };
  };
  const call = async (_: unknown, request: RangeRequest, again?: (one: RangeRequest) => RangeRequest) => {
    let asked = request;
    while ((asked.limit ?? 0) > most) {
      limits.push(-(asked.limit ?? 0));
      if (again === undefined) throw new Error('no answer');
      asked = again(asked);
    }
    return answer(asked) as unknown as RangeResponse;
  };
  return { limits, connection: { call } as unknown as Pick<Connection, 'call'> };
}

it.each([
  ['small ones are read by five hundred', 1200, 100, Infinity, [500, 500, 500]],
  ['after large ones fewer are asked for', 600, 100_000, Infinity, [500, 167]],
  ['of large ones so many that they are answered', 20, 4_000_000, 5, [-500, -50, 5, 4, 4, 4, 4]],
  ['a page that is not answered is asked for in parts', 60, 10, 50, [-500, 50, -100, 10]],
  ['in small ones where need be', 12, 10, 5, [-500, -50, 5, -10, 1, 2, 4]],
])('of a range %s', async (_what, count, size, most, limits) => {
  const { connection, limits: asked } = etcd(count, size, most);
  const { entries, more } = await readRange(connection, keys, prefixRange('/a/'));
  expect(entries.map(({ revision }) => revision)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  expect([more, asked]).toEqual([false, limits]);
});
