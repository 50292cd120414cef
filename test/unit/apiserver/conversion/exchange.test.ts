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
let kept: Kept;
let exchange: ResourceExchange;
beforeEach(async () => {
  kept = new Kept();
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
