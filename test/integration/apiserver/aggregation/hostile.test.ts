import type { ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { checkHeader, controllersUser } from '../../../../cluster/names.ts';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, admin, call, startApi } from '../api.ts';
import { apiService, apiServices, makeAvailable, register } from './scene.ts';

let api: Api;
let extension: Extension;
let relay: Relay;
const unheard: unknown[] = [];
const note = (error: unknown) => void unheard.push(error);
beforeEach(async () => {
  unheard.length = 0;
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  extension = await startExtension();
  relay = await startRelay(extension.port);
  api = startApi();
  await register(api, { ...extension, port: relay.port });
});
afterEach(async () => {
  await api.close();
  await relay.close();
  await extension.close();
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
  expect(unheard).toEqual([]);
});

const flunders = `/apis/${gv}/namespaces/default/flunders`;
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Relay {
  port: number;
  inbound: Set<Socket>;
  /** All that lead here, as by a crash of the machine. */
  reset(): void;
  close(): Promise<void>;
}

async function startRelay(to: number): Promise<Relay> {
  const inbound = new Set<Socket>();
  const server = net.createServer((socket) => {
    inbound.add(socket);
    const outbound = net.connect(to, '127.0.0.1');
    socket.on('close', () => {
      inbound.delete(socket);
      outbound.destroy();
    });
    outbound.on('close', () => socket.destroy());
    for (const one of [socket, outbound]) one.on('error', () => one.destroy());
    socket.pipe(outbound);
    outbound.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reset = () => {
    for (const socket of inbound) socket.resetAndDestroy();
  };
  const close = () => {
    reset();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port: (server.address() as AddressInfo).port, inbound, reset, close };
}

const switched = (protocol: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;

/** Answers so, whatever it is asked, and is gone a moment later. */
function switchesAndResets(protocol = 'echo/1'): void {
  extension.instead = ({ socket }) => {
    socket.on('error', () => socket.destroy());
    socket.write(switched(protocol), () => setTimeout(relay.reset, 5));
    return true;
  };
}

const resets = () => eventually(() => expect(relay.inbound.size).toBe(0));

test('a server that switches to a protocol nobody asked for is not reached, as often as one likes', async () => {
  const unasked = 'backend tried to switch protocol "echo/1" when "" was requested';
  extension.instead = ({ socket }) => socket.write(switched('echo/1')) || true;
  expect((await api.call('GET', flunders)).body).toBe(`error trying to reach service: ${unasked}\n`);
  relay.reset();
  await resets();
  switchesAndResets();
  for (let i = 0; i < 70; i++) {
    const { status, body } = await api.call('GET', flunders);
    // The reset may be there before what came before it is read.
    expect(
      [unasked, 'connection reset by peer'].map((why) => `error trying to reach service: ${why}\n`),
    ).toContain(body);
    expect(status).toBe(503);
    await resets();
  }
});

test('nor by our controller, nor by whoever asks what there is', async () => {
  switchesAndResets();
  const check = { [checkHeader]: 'yes' };
  const transport = api.server.transport(ownUser(controllersUser));
  expect((await call(transport, 'GET', `/apis/${gv}`, undefined, check)).status).toBe(503);
  await resets();
  const { body } = await api.call('GET', '/apis', undefined, { accept: aggregated });
  expect(body.items.find((one: { metadata: { name: string } }) => one.metadata.name === group)).toMatchObject(
    { versions: [{ freshness: 'Stale' }] },
  );
  expect(extension.asked).toHaveLength(2);
  await resets();
});

test('one that resets a tunnel which nobody took yet ends that tunnel alone, and it counts no more', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'echo/1' };
  const asking = { method: 'GET', url: `${flunders}/a/exec`, headers };
  for (let i = 0; i < 4; i++) {
    const all = Array.from({ length: 65 }, () => api.server.transport(admin)(asking));
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 101));
    relay.reset();
    await Promise.all(answers.map(({ tunnel }) => closed(tunnel)));
  }
});

test('one that switches to another protocol than the one asked for is not reached', async () => {
  extension.upgradeTo = 'smuggled/1';
  const headers = { connection: 'Upgrade', upgrade: 'echo/1' };
  const answered = await api.call('GET', `${flunders}/a/exec`, undefined, headers);
  expect([answered.status, answered.body]).toEqual([
    503,
    'error trying to reach service: backend tried to switch protocol "smuggled/1" when "echo/1" was requested\n',
  ]);
  await resets();
});

test('a tunnel ends when whoever asked for it goes', async () => {
  const gone = new AbortController();
  const headers = { connection: 'Upgrade', upgrade: 'echo/1' };
  const asking = { method: 'GET', url: `${flunders}/a/exec`, headers, signal: gone.signal };
  const { tunnel } = await api.server.transport(admin)(asking);
  gone.abort();
  await closed(tunnel);
  await resets();
});

const begun = (response: ServerResponse) => {
  response.on('error', () => undefined);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1 << 20 });
  response.write('{"kind":');
};

test.each([
  ['read', true],
  ['not read', false],
])('one that resets in the midst of an answer that is %s breaks that answer alone', async (_how, read) => {
  extension.instead = (_request, response) => {
    begun(response);
    return true;
  };
  for (let i = 0; i < 70; i++) {
    const response = await api.server.transport(admin)({ method: 'GET', url: flunders, headers: {} });
    expect(response.status).toBe(200);
    const whole = read && collected(response.body as AsyncIterable<Uint8Array>);
    relay.reset();
    if (whole) await expect(whole).rejects.toThrow();
    await resets();
  }
});

test('whoever goes in the midst of an answer breaks nothing', async () => {
  extension.instead = (_request, response) => {
    begun(response);
    return true;
  };
  for (let i = 0; i < 70; i++) {
    const gone = new AbortController();
    const asking = { method: 'GET', url: flunders, headers: {}, signal: gone.signal };
    expect((await api.server.transport(admin)(asking)).status).toBe(200);
    gone.abort();
    await resets();
  }
});

async function collected(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _piece of body);
}

async function closed(tunnel: Duplex | undefined): Promise<void> {
  await eventually(() => expect(tunnel?.closed).toBe(true));
}

test('no connection is kept, however often the APIService changes', async () => {
  const pem = Buffer.from(extension.caBundle, 'base64').toString();
  for (let i = 0; i < 10; i++) {
    const caBundle = Buffer.from(pem + '\n'.repeat(i)).toString('base64');
    const changed = { spec: { caBundle } };
    await api.call('PATCH', `${apiServices}/v1alpha1.${group}`, changed);
    expect((await api.call('GET', flunders)).status).toBe(200);
  }
  await resets();
});

describe('what it serves', () => {
  const name = `v1alpha1.${group}`;
  const discovered = () => api.call('GET', '/apis', undefined, { accept: aggregated });

  test('is asked anew when the APIService changes, and when it is made again', async () => {
    for (let i = 0; i < 2; i++) await discovered();
    expect(extension.asked).toHaveLength(1);
    const pem = Buffer.from(extension.caBundle, 'base64').toString();
    const caBundle = Buffer.from(`${pem}\n`).toString('base64');
    await api.call('PATCH', `${apiServices}/${name}`, { spec: { caBundle } });
    await discovered();
    expect(extension.asked).toHaveLength(2);
    const made = apiService({ ...extension, caBundle, port: relay.port });
    await api.call('DELETE', `${apiServices}/${name}`);
    await api.call('POST', apiServices, made);
    await makeAvailable(api, name);
    await discovered();
    expect(extension.asked).toHaveLength(3);
  });

  test('is shown of so many APIServices, by their names, and all of them are passed on to', async () => {
    for (let i = 0; i < 500; i++) {
      const spec = { group: `g${i}.example.com`, version: 'v1' };
      expect((await api.call('POST', apiServices, apiService(extension, spec))).status).toBe(201);
    }
    const { body } = await api.call('GET', '/apis');
    const others = body.groups.filter((one: { name: string }) => one.name.endsWith('.example.com'));
    expect(others).toHaveLength(500);
    expect(others.map((one: { name: string }) => one.name)).not.toContain(group);
    expect((await api.call('GET', flunders)).status).toBe(200);
  });
});
