import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, admin, configMap, configMaps, startApi } from './api.ts';

const authority = await createAuthority('reuse');
const server = await authority.issueServer(['127.0.0.1']);
const tls = { key: server.privateKey, cert: server.certificate, ca: authority.certificate };

let api: Api;
let url: string;
beforeEach(async () => {
  api = startApi({ store: openMemory(), authenticate: [() => admin] });
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterEach(() => api.close());

/**
 * In a thread of its own, so that it may ask again while the server is still about to hear that its answer is out.
 * Each of 24 connections is used for one request after the other, as soon as the last byte of an answer is there.
 */
const client = `
const https = require('node:https');
const { parentPort, workerData: { url, ca, requests } } = require('node:worker_threads');
const agent = new https.Agent({ keepAlive: true, ca, maxSockets: 24 });
const counts = {};
const send = ({ method, path, body }) => new Promise((resolve) => {
  const count = (what) => { counts[what] = (counts[what] ?? 0) + 1; resolve(); };
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const out = https.request(url + path, { method, agent, headers }, (response) => {
    response.resume();
    response.on('end', () => count(response.statusCode));
  });
  out.on('error', (error) => count(error.code));
  out.end(body);
});
const caller = async () => {
  for (let next = requests.pop(); next; next = requests.pop()) await send(next);
};
Promise.all(Array.from({ length: 24 }, caller)).then(() => {
  agent.destroy();
  parentPort.postMessage(counts);
});
`;

interface Asked {
  method: string;
  path: string;
  body: string;
}

async function answersTo(requests: Asked[]): Promise<Record<string, number>> {
  const workerData = { url, ca: authority.certificate, requests };
  const worker = new Worker(client, { eval: true, workerData });
  const [counts] = (await once(worker, 'message')) as [Record<string, number>];
  return counts;
}

/** About as large as what a socket takes at once, and larger. */
const large = (i: number) =>
  JSON.stringify({ ...configMap(`c-${i}`), data: { payload: 'x'.repeat(20_000 + ((i * 97) % 20_000)) } });

test('a connection serves large requests that follow large answers at once', async () => {
  const dryRun = `${configMaps}?dryRun=All`;
  const requests = Array.from({ length: 6000 }, (_, i) => ({ method: 'POST', path: dryRun, body: large(i) }));
  expect(await answersTo(requests)).toEqual({ 201: 6000 });
});

test('and large requests that follow lists, which are made while they are sent', async () => {
  await answersTo(
    Array.from({ length: 20 }, (_, i) => ({ method: 'POST', path: configMaps, body: large(10_000 + i) })),
  );
  const requests = Array.from({ length: 1500 }, (_, i) =>
    i % 2 === 0
      ? { method: 'GET', path: configMaps, body: '' }
      : { method: 'POST', path: `${configMaps}?dryRun=All`, body: large(i) },
  );
  expect(await answersTo(requests)).toEqual({ 200: 750, 201: 750 });
});
