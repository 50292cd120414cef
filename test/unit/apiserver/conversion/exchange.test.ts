import { beforeEach, expect, test } from 'vitest';
import { Converter } from '../../../../apiserver/conversion/converter.ts';
import { handledIn } from '../../../../apiserver/conversion/exchange.ts';
import { Kept } from '../../../../apiserver/conversion/kept.ts';
import type { ResourceExchange } from '../../../../apiserver/core.ts';
import { EventStream } from '../../../../apiserver/handlers/watch/stream.ts';
import type { ApiResponse } from '../../../../kube/http.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange } from '../../../../storage/store.ts';
import { group } from '../../../conversion/definition.ts';
import { hooked, padding, stored } from '../../../conversion/stored.ts';
import { eventually } from '../../../eventually.ts';

const range = prefixRange(`/${group}/widgets/team/`);
let now: number;
let kept: Kept;
let exchange: ResourceExchange;
beforeEach(async () => {
  now = 0;
  kept = new Kept({ request: 3000, cluster: 4000, all: 10_000 }, () => now);
  const store = openMemory();
  for (const name of ['a', 'b']) await store.create(`${range.start}default/${name}`, stored(name).value);
  exchange = {
    core: {
      store,
      registry: {},
      catalog: { find: () => hooked },
      converter: new Converter(padding('x'.repeat(1000), []), { kept }),
    },
    request: {},
    info: { cluster: 'team' },
    user: { name: 'u', groups: [] },
    served: hooked,
  } as unknown as ResourceExchange;
});

const handled = (answer: ApiResponse) =>
  handledIn(exchange, async (own) => {
    const { entries } = await own.core.store.list(range);
    expect(entries).toHaveLength(2);
    expect(kept.of('team')).toBeGreaterThan(2000);
    return answer;
  })(exchange);

/** Answered to nobody who reads. */
const listed = () => handled({ ...answered, body: pieces() });

const answered = { status: 200, headers: {} };
async function* pieces() {
  yield Buffer.from('a');
  yield Buffer.from('b');
}

test('what is converted counts until it is on its way', async () => {
  await handled({ ...answered, body: new Uint8Array() });
  expect(kept.of('team')).toBe(0);
});

test('of what is read piece by piece, until the last was taken', async () => {
  const { body } = await handled({ ...answered, body: pieces() });
  for await (const _ of body as AsyncIterable<Uint8Array>) expect(kept.of('team')).toBeGreaterThan(2000);
  expect(kept.of('team')).toBe(0);
});

test('of a watch, until what it begins with was taken, or the reader left', async () => {
  const limits = { bufferBytes: 1000, stallMillis: 1000 };
  const begun = () => {
    const stream = new EventStream<Uint8Array>(
      limits,
      () => {},
      (parts) => Buffer.concat(parts),
    );
    stream.begin([Buffer.from('a')]);
    return stream;
  };
  const reading = begun();
  await handled({ ...answered, body: reading });
  const reader = reading[Symbol.asyncIterator]();
  await reader.next();
  expect(kept.of('team')).toBeGreaterThan(2000);
  void reader.next();
  await eventually(() => expect(kept.of('team')).toBe(0));
  const left = begun();
  await handled({ ...answered, body: left });
  expect(kept.of('team')).toBeGreaterThan(2000);
  left.end();
  // What it begins with may be read still.
  expect(kept.of('team')).toBeGreaterThan(2000);
  for await (const _ of left) break;
  expect(kept.of('team')).toBe(0);
});

test('of what fails, nothing', async () => {
  const failing = handledIn(exchange, async (own) => {
    await own.core.store.list(range);
    throw new Error('no');
  });
  await expect(failing(exchange)).rejects.toThrow('no');
  expect(kept.of('team')).toBe(0);
});

test('who does not read is cut where others ask, and is told so as of a connection that broke', async () => {
  let isFreed = false;
  async function* held() {
    try {
      yield* pieces();
    } finally {
      isFreed = true;
    }
  }
  const { body } = await handled({ ...answered, body: held() });
  const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  await reader.next();
  await expect(listed()).rejects.toMatchObject({ code: 429 });
  now = 6000;
  const next = await listed();
  await eventually(() => expect(isFreed).toBe(true));
  await expect(reader.next()).rejects.toThrow('too slow');
  expect(kept.of('team')).toBeGreaterThan(2000);
  for await (const _ of next.body as AsyncIterable<Uint8Array>);
  expect(kept.of('team')).toBe(0);
});

test('so is who does not read what a watch begins with', async () => {
  let isFreed = false;
  function* head() {
    try {
      for (;;) yield Buffer.alloc(70_000);
    } finally {
      isFreed = true;
    }
  }
  const stream = new EventStream<Uint8Array>(
    { bufferBytes: 1000, stallMillis: 1000 },
    () => {},
    (parts) => Buffer.concat(parts),
  );
  stream.begin(head());
  await handled({ ...answered, body: stream });
  const reader = stream[Symbol.asyncIterator]();
  for (let taken = 0; taken < 10; taken++) await reader.next();
  now = 5000 + 2500;
  await expect(listed()).rejects.toMatchObject({ code: 429 });
  now = 5000 + 2700;
  await listed();
  expect([isFreed, stream.ended]).toEqual([true, true]);
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test('one object is read however much is kept, and what is read one by one is not counted', async () => {
  await listed();
  await expect(listed()).rejects.toMatchObject({ code: 429 });
  const all = kept.of('team');
  const get = handledIn(exchange, async (own) => {
    const entry = await own.core.store.get(`${range.start}default/a`);
    expect(Buffer.from(entry?.value ?? []).toString()).toContain('xxx');
    expect(kept.of('team')).toBe(all);
    return { ...answered, body: new Uint8Array() };
  });
  expect((await get(exchange)).status).toBe(200);
  expect(kept.of('team')).toBe(all);
});
