import { expect, test } from 'vitest';
import { decode } from '../../../client/exchange.ts';

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
