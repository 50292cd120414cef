import { once } from 'node:events';
import tls from 'node:tls';
import { expect, test } from 'vitest';
import type { Limits } from '../../../apiserver/core.ts';
import type { Ladder } from '../../../apiserver/ladder.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { listenHttps } from '../../../apiserver/wire/http.ts';
import { deferred } from '../../../client/informer.ts';
import type { ApiResponse } from '../../../kube/http.ts';

const limits = {
  bodyBytes: 1024,
  requestSeconds: 60,
  stallSeconds: 30,
  lingerSeconds: 0,
  cutSeconds: 0,
} as Limits;
const asked = 12;

test('who asks for several things at once and leaves has left all of them: none stays at work', async () => {
  const authority = await createAuthority('test');
  const issued = await authority.issueServer(['127.0.0.1']);
  const signals: AbortSignal[] = [];
  const all = deferred();
  const left: Promise<unknown>[] = [];
  // Whoever asks is kept waiting.
  const serve: Ladder['serve'] = (request) => {
    const signal = request.signal as AbortSignal;
    signals.push(signal);
    left.push(once(signal, 'abort'));
    if (signals.length === asked) all.resolve();
    return new Promise<ApiResponse>(() => {});
  };
  const ca = authority.certificate;
  const where = { host: '127.0.0.1', port: 0, tls: { key: issued.privateKey, cert: issued.certificate, ca } };
  const listener = await listenHttps({ serve } as Ladder, where, limits, undefined);
  const socket = tls.connect({ host: '127.0.0.1', port: Number(new URL(listener.url).port), ca });
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(asked));
  await all.promise;
  expect(signals.map(({ aborted }) => aborted)).toEqual(Array(asked).fill(false));
  socket.destroy();
  await Promise.all(left);
  expect(signals.map(({ aborted }) => aborted)).toEqual(Array(asked).fill(true));
  await listener.close();
});
