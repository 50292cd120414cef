import { once } from 'node:events';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectionError } from '../../../../apiserver/webhook/go-text.ts';

/** Why a request to whoever answers with those bytes, and nothing else, failed. */
async function refusedBy(answer: Buffer): Promise<unknown> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const asked = request({ host: '127.0.0.1', port, servername: 'hook.example' }).end();
    const [error] = await once(asked, 'error');
    return error;
  } finally {
    server.close();
  }
}

const alert = (number: number) => Buffer.from([21, 3, 3, 0, 2, 2, number]);

// A webhook that has no certificate yet says 80 or 40; each as kube-apiserver 1.36 told it.
test.each([
  ['remote error: tls: internal error', alert(80)],
  ['remote error: tls: handshake failure', alert(40)],
  ['remote error: tls: unknown certificate authority', alert(48)],
  ['remote error: tls: certificate required', alert(116)],
  ['remote error: tls: alert(200)', alert(200)],
  ['http: server gave HTTP response to HTTPS client', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('%s', async (words, answer) => {
  expect(connectionError(await refusedBy(answer), 'hook.example')).toBe(words);
});
