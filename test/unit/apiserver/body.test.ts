import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { bodyReader } from '../../../apiserver/wire/sockets.ts';
import { byteByByte, heapGauge } from '../../heap.ts';

test('a body that comes byte by byte takes no more memory than one that comes at once', async () => {
  const headers = { 'transfer-encoding': 'chunked' };
  const raw = Object.assign(new EventEmitter(), { headers, destroyed: false }) as unknown as IncomingMessage;
  const out = Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse;
  const sent = Buffer.alloc(300_000, 'ab');
  const reading = bodyReader(raw, out, sent.length)?.();
  const grown = heapGauge();
  let most = Infinity;
  for (const byte of byteByByte(sent, () => (most = grown()))) raw.emit('data', byte);
  raw.emit('end');
  expect(most).toBeLessThan(2_000_000);
  expect(Buffer.compare((await reading) ?? Buffer.alloc(0), sent)).toBe(0);
});
