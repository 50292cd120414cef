import { expect, test } from 'vitest';
import { decode, failIfNotOk } from '../../../client/exchange.ts';
import { watchEvents } from '../../../client/watch.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { StatusError } from '../../../kube/status.ts';
import { byteByByte, heapGauge } from '../../heap.ts';

test('an answer that is too long to decode is read no further than that', async () => {
  const chunk = Buffer.alloc(64 << 20);
  let read = 0;
  let ended = false;
  async function* body() {
    try {
      for (; read < 16; read++) yield chunk;
    } finally {
      ended = true;
    }
  }
  await expect(decode({ status: 200, headers: {}, body: body() })).rejects.toMatchObject({
    code: 'ETOOLARGE',
  });
  expect([read, ended]).toEqual([4, true]);
});

test('what comes byte by byte takes no more memory than what comes at once', async () => {
  const object = { metadata: { name: 'a'.repeat(300_000) } };
  const grown = heapGauge();
  let most = Infinity;
  const of = (value: object) => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield* byteByByte(Buffer.from(`${encodeJson(value)}\n`), () => (most = grown()));
    })(),
  });
  expect(await decode(of(object))).toEqual(object);
  expect(most).toBeLessThan(4_000_000);
  most = Infinity;
  for await (const [event] of watchEvents(of({ type: 'ADDED', object })))
    expect(event?.object).toEqual(object);
  expect(most).toBeLessThan(4_000_000);
});

test('what a server put around what it took is read, however deep that was', async () => {
  const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const of = (text: string) => ({ status: 200, headers: {}, body: Buffer.from(text) });
  expect(encodeJson(await decode(of(`{"items":[${nested}]}`)))).toBe(`{"items":[${nested}]}`);
  const events = watchEvents(of(`{"type":"ADDED","object":${nested}}\n`));
  for await (const [event] of events) expect(encodeJson(event?.object)).toBe(nested);
});

const busy = { kind: 'Status', apiVersion: 'v1', reason: 'TooManyRequests', code: 429 };
test.each<[string, string | undefined, object | string, number | undefined]>([
  ['by a header, as kube-apiserver does where it is busy', '3', 'Too many requests', 3],
  ['in its Status', undefined, { ...busy, details: { retryAfterSeconds: 4 } }, 4],
  ['by both: the Status counts', '3', { ...busy, details: { retryAfterSeconds: 4 } }, 4],
  ['by a header beside its Status', '3', { ...busy, details: { name: 'p' } }, 3],
  ['by a date, which nobody does', 'Fri, 27 Nov 2026 02:00:00 GMT', 'no', undefined],
  ['not at all', undefined, 'no', undefined],
])('when to ask again is said %s', async (_, header, body, seconds) => {
  const headers: Record<string, string> = header === undefined ? {} : { 'retry-after': header };
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const failed = await failIfNotOk({ status: 429, headers, body: bytes }).catch((why: unknown) => why);
  expect(failed).toMatchObject({ code: 429, reason: 'TooManyRequests' });
  expect((failed as StatusError).details?.retryAfterSeconds).toBe(seconds);
});
