import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { whenOver } from '../../../apiserver/observe.ts';

function counted() {
  const tunnel = new PassThrough();
  let ends = 0;
  const watched = () =>
    whenOver({ status: 101, headers: {}, body: new Uint8Array(), tunnel }, () => void ends++);
  return { tunnel, watched, ends: () => ends };
}

test('a tunnel is over when it has closed', async () => {
  const { tunnel, watched, ends } = counted();
  watched();
  expect(ends()).toBe(0);
  tunnel.destroy();
  await once(tunnel, 'close');
  expect(ends()).toBe(1);
});

test('and at once where it had closed before', async () => {
  const { tunnel, watched, ends } = counted();
  tunnel.destroy();
  await once(tunnel, 'close');
  watched();
  expect(ends()).toBe(1);
});
