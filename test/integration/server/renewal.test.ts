import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requestHeaderAuthenticator } from '../../../apiserver/authn/request-header.ts';
import { certificateAuthenticator } from '../../../apiserver/authn/x509.ts';
import type { Listening } from '../../../apiserver/options.ts';
import { createAuthority, type Issued } from '../../../apiserver/tls/ca.ts';
import { silentLogger } from '../../../kube/log.ts';
import { Certificates } from '../../../server/certificates.ts';
import { loadIdentity } from '../../../server/identity.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { eventually } from '../../eventually.ts';
import { FakeClock } from '../../unit/controller/fake-clock.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const day = 86_400_000;
let directory: string;
let api: Api;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-renewal-'));
});
afterEach(async () => {
  await api.close();
  await rm(directory, { recursive: true });
});

async function listen(tls: Certificates['tls']): Promise<Listening> {
  const headers = { username: ['X-Remote-User'], uid: [], group: ['X-Remote-Group'], extraPrefix: [] };
  api = startApi({
    authenticate: [requestHeaderAuthenticator({ allowedNames: [], ...headers }), certificateAuthenticator()],
  });
  return api.server.listen({ host: '127.0.0.1', port: 0, tls });
}

/** A client that keeps its connection. */
function client({ url }: Listening, ca: string, by: Issued | undefined) {
  const agent = new https.Agent({
    keepAlive: true,
    maxSockets: 1,
    ca,
    ...(by && { cert: by.certificate, key: by.privateKey }),
  });
  const sockets = new Set<TLSSocket>();
  const get = async (headers: Record<string, string> = {}) => {
    const request = https.get(`${url}/api/v1/namespaces`, { agent, headers });
    request.once('socket', (socket) => sockets.add(socket as TLSSocket));
    const [response] = await once(request, 'response');
    for await (const _ of response);
    return response.statusCode;
  };
  return { get, sockets, close: () => agent.destroy() };
}

async function shown({ url }: Listening): Promise<X509Certificate> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return new X509Certificate(raw);
}

test('a certificate is renewed while the server runs: who is connected stays, who comes sees the new one', async () => {
  // As if the server had been started so long ago.
  const clock = new FakeClock(Date.now() - 250 * day);
  const identity = await loadIdentity(openMemory(), '127.0.0.1', directory, [], () => clock.now());
  const certificates = await Certificates.load({ identity, logger: silentLogger, clock });
  const listening = await listen(certificates.tls);
  const stop = new AbortController();
  let told = 0;
  const following = certificates.follow(stop.signal, async () => {
    listening.show(certificates.tls);
    told++;
  });
  const before = await shown(listening);
  const former = certificates.admin;
  const connected = client(listening, identity.ca, former);
  expect(await connected.get()).toBe(200);
  const pass = async (millis: number) => {
    clock.advance(millis);
    // It has looked, and waits again.
    await eventually(() => expect(clock.pending).toBe(1));
  };
  await pass(day);
  expect(told).toBe(0);
  await pass(249 * day);
  expect(told).toBe(1);
  const after = await shown(listening);
  expect(after.serialNumber).not.toBe(before.serialNumber);
  expect(Date.parse(after.validTo) - Date.parse(before.validTo)).toBeGreaterThan(249 * day);
  expect(await connected.get()).toBe(200);
  expect(connected.sockets.size).toBe(1);
  // Both of the administrator's are good, by either of the server's.
  expect(certificates.admin.certificate).not.toBe(former.certificate);
  for (const by of [former, certificates.admin]) {
    const other = client(listening, identity.ca, by);
    expect(await other.get()).toBe(200);
    other.close();
  }
  connected.close();
  stop.abort();
  await following;
});

test('an authority of proxies that was replaced makes none, on open connections neither; the new one does', async () => {
  const [users, first, second] = await Promise.all(
    ['users', 'first', 'second'].map((name) => createAuthority(name)),
  );
  if (!users || !first || !second) throw new Error('three authorities');
  const { privateKey: key, certificate: cert } = await users.issueServer(['127.0.0.1']);
  const tls = { key, cert, ca: users.certificate };
  const listening = await listen({ ...tls, proxyCa: first.certificate });
  const said = { 'x-remote-user': 'ann', 'x-remote-group': 'system:masters' };
  const proxy = async (of: typeof first) =>
    client(listening, users.certificate, await of.issueClient('front', []));
  const user = client(listening, users.certificate, await users.issueClient('bob', ['system:masters']));
  const open = await proxy(first);
  expect(await open.get(said)).toBe(200);
  expect(await user.get()).toBe(200);
  listening.show({ ...tls, proxyCa: second.certificate });
  expect(await open.get(said)).toBe(401);
  expect(await user.get()).toBe(200);
  expect([open.sockets.size, user.sockets.size]).toEqual([1, 1]);
  const [old, young] = [await proxy(first), await proxy(second)];
  expect(await old.get(said)).toBe(401);
  expect(await young.get(said)).toBe(200);
  for (const one of [open, user, old, young]) one.close();
});
