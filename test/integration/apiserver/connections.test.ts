import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Listening } from '../../../apiserver/options.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type Api, admin, startApi } from './api.ts';

const authority = await createAuthority('test');
const server = await authority.issueServer(['127.0.0.1']);
const ca = authority.certificate;
const tls = { key: server.privateKey, cert: server.certificate, ca };

let api: Api;
let listening: Listening;
beforeEach(async () => {
  api = startApi({ authenticate: [() => admin], limits: { lingerSeconds: 1, cutSeconds: 2 } });
  listening = await api.server.listen({ host: '127.0.0.1', port: 0, tls });
});
afterEach(() => api.close());

function ask(agent: https.Agent, path = '/livez'): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const out = https.get(listening.url + path, { ca, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.headers.connection));
    });
    out.on('error', reject);
  });
}

const keeping = (length: number) =>
  Array.from({ length }, () => new https.Agent({ keepAlive: true, maxSockets: 1 }));

test('a share of the connections goes, each with its next answer; who comes again stays', async () => {
  const agents = keeping(8);
  const all = () => Promise.all(agents.map((agent) => ask(agent)));
  expect(await all()).toEqual(Array(8).fill('keep-alive'));
  expect(listening.load()).toEqual({ requests: 8, connections: 8 });
  listening.shed(0.5);
  const answers = await all();
  expect(answers.filter((connection) => connection === 'close')).toHaveLength(4);
  expect(await all()).toEqual(Array(8).fill('keep-alive'));
  listening.shed(1);
  expect(await all()).toEqual(Array(8).fill('close'));
  for (const agent of agents) agent.destroy();
});

test('a server that goes answers once more on each connection, and takes no other', async () => {
  const agents = keeping(8);
  const ask8 = () => Promise.all(agents.map((agent) => ask(agent)));
  expect(await ask8()).toEqual(Array(8).fill('keep-alive'));
  let over = false;
  const closed = api.server.close().then(() => {
    over = true;
  });
  expect(await ask8()).toEqual(Array(8).fill('close'));
  expect(over).toBe(false);
  await expect(Promise.all(agents.map((agent) => ask(agent)))).rejects.toThrow('ECONNREFUSED');
  await closed;
  for (const agent of agents) agent.destroy();
});

test('who asks for nothing is told of the end, who would watch is sent elsewhere', async () => {
  const [idle, watching] = keeping(2) as [https.Agent, https.Agent];
  await ask(idle);
  await ask(watching);
  const [socket] = Object.values(idle.freeSockets).flat() as [Socket];
  const ended = once(socket, 'end');
  await api.server.stopListening();
  const closed = api.server.close();
  const refused = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = '/api/v1/namespaces?watch=1';
    https.get(listening.url + path, { ca, agent: watching }, resolve).on('error', reject);
  });
  refused.resume();
  expect(refused.statusCode).toBe(429);
  expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
  await ended;
  await closed;
});
