import https from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Listening } from '../../../apiserver/options.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type Api, admin, startApi } from './api.ts';

let api: Api;
let listening: Listening;
let ca: string;

beforeAll(async () => {
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  ca = authority.certificate;
  api = startApi({ authenticate: [() => admin] });
  const tls = { key: server.privateKey, cert: server.certificate, ca };
  listening = await api.server.listen({ host: '127.0.0.1', port: 0, tls });
});
afterAll(() => api.close());

function ask(agent: https.Agent): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const out = https.get(`${listening.url}/livez`, { ca, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.headers.connection));
    });
    out.on('error', reject);
  });
}

const agents = Array.from({ length: 8 }, () => new https.Agent({ keepAlive: true, maxSockets: 1 }));

test('a share of the connections goes, each with its next answer; who comes again stays', async () => {
  expect(await Promise.all(agents.map(ask))).toEqual(Array(8).fill('keep-alive'));
  expect(listening.load()).toEqual({ requests: 8, connections: 8 });
  listening.shed(0.5);
  const answers = await Promise.all(agents.map(ask));
  expect(answers.filter((connection) => connection === 'close')).toHaveLength(4);
  expect(await Promise.all(agents.map(ask))).toEqual(Array(8).fill('keep-alive'));
  listening.shed(1);
  expect(await Promise.all(agents.map(ask))).toEqual(Array(8).fill('close'));
  for (const agent of agents) agent.destroy();
});
