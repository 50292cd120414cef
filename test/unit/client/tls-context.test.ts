import https from 'node:https';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { httpTransport } from '../../../client/http.ts';

const watch = { method: 'GET', url: '/x?watch=1', headers: {} };

afterEach(() => vi.restoreAllMocks());

async function serve() {
  const authority = await createAuthority('test-ca');
  const { privateKey: key, certificate: cert } = await authority.issueServer(['127.0.0.1']);
  const server = https.createServer({ key, cert }, (request, response) => {
    response.writeHead(200);
    if (request.url === watch.url) response.write('x');
    else response.end('x'.repeat(1_000));
  });
  let handshakes = 0;
  server.on('secureConnection', () => handshakes++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, ca: authority.certificate, handshakes: () => handshakes, close };
}

test('what the server is known by is read once for all connections, as each watch has one of its own', async () => {
  const { url, ca, close } = await serve();
  const read = vi.spyOn(tls, 'createSecureContext');
  const transport = httpTransport({ server: url, ca });
  for (let i = 0; i < 5; i++) expect((await transport(watch)).status).toBe(200);
  expect(read).toHaveBeenCalledTimes(1);
  transport.close();
  await close();
});

test('who is signed by nobody we know is refused all the same', async () => {
  const { url, close } = await serve();
  const { certificate: ca } = await createAuthority('another-ca');
  const transport = httpTransport({ server: url, ca });
  await expect(transport(watch)).rejects.toMatchObject({ name: 'TransportError' });
  transport.close();
  await close();
});

test('whoever asks right after an answer does so over the same connection', async () => {
  const { url, ca, handshakes, close } = await serve();
  const transport = httpTransport({ server: url, ca });
  for (let i = 0; i < 50; i++) expect((await transport({ ...watch, url: '/x' })).status).toBe(200);
  expect(handshakes()).toBe(1);
  transport.close();
  await close();
});
