import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type Api, admin, configMaps, startApi } from './api.ts';

const authority = await createAuthority('test');
const server = await authority.issueServer(['127.0.0.1']);
const ca = authority.certificate;
const tls = { key: server.privateKey, cert: server.certificate, ca };

let api: Api;
let url: string;
/** Whoever asks waits for it. */
let known: Promise<void> = Promise.resolve();
let asked = (): void => {};
beforeEach(async () => {
  const authenticate = async () => {
    asked();
    await known;
    return admin;
  };
  api = startApi({ authenticate: [authenticate] });
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterEach(() => api.close());

function upgrade(path: string): https.RequestOptions & { path: string } {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'c2l4dGVlbiBieXRlcyEhIQ==',
  };
  return { ca, agent: false, headers, path };
}

test('a watch over a WebSocket ends with a close when the server goes', async () => {
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const out = https.get(url, upgrade(`${configMaps}?watch=1`));
    out.on('upgrade', (_, opened: Duplex) => resolve(opened));
    out.on('error', reject);
  });
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', resolve);
    socket.on('error', reject);
  });
  const closed = api.server.close();
  await ended;
  socket.end();
  expect(Buffer.concat(chunks).subarray(-4)).toEqual(Buffer.from([0x88, 0x02, 0x03, 0xe9]));
  await closed;
});

test('a request at work that asked for another protocol is answered when the server goes', async () => {
  let know = (): void => {};
  known = new Promise((resolve) => {
    know = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    https.get(url, upgrade(configMaps), resolve).on('error', reject);
  });
  await arrived;
  const closed = api.server.close();
  await api.server.stopListening();
  await setImmediate();
  know();
  const response = await answer;
  response.resume();
  expect(response.statusCode).toBe(200);
  await closed;
});
