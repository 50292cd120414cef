import { setMaxListeners } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runAvailabilityController } from '../../../../controller/aggregation/controller.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { accept, data, portBytes, served } from '../../../aggregation/forward.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, admin, startApi, take, watch } from '../api.ts';
import { PodsElsewhere, serviceOfPods } from './pods.ts';
import { apiServices, control, register } from './scene.ts';

let api: Api;
let extension: Extension;
let pods: PodsElsewhere;
const unheard: unknown[] = [];
const note = (error: unknown) => void unheard.push(error);
beforeEach(async () => {
  unheard.length = 0;
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  extension = await startExtension();
  const store = openMemory();
  pods = new PodsElsewhere(store);
  api = startApi({ store, connectPod: pods.connectPod });
  await api.call('POST', '/api/v1/namespaces/default/services', serviceOfPods(443));
  await register(api, extension, '', { service: { namespace: 'default', name: 'wardle', port: 443 } });
});
afterEach(async () => {
  await api.close();
  await extension.close();
  await eventually(() => expect(pods.open.size).toBe(0));
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
  expect(unheard).toEqual([]);
});

const flunders = `/apis/${gv}/namespaces/default/flunders`;
const flunder = (name: string) => ({ apiVersion: gv, kind: 'Flunder', metadata: { name } });
const get = () => api.call('GET', flunders);

/** Pods that are all the one server. */
async function run(...names: string[]): Promise<void> {
  for (const name of names) await pods.add(name, extension.port);
  await pods.slice(names);
}

test('is asked in a forward to one of its pods, at the port that this one has, as who asks, with our certificate', async () => {
  await run('a');
  expect((await get()).body.kind).toBe('FlunderList');
  expect(pods.asked).toEqual(['a:8443']);
  expect(extension.asked).toMatchObject([
    {
      shown: 'front-proxy-client',
      authorized: true,
      headers: { 'x-remote-user': 'admin', host: 'wardle.default.svc:443' },
    },
  ]);
  const made = await api.call('POST', flunders, { ...flunder('a'), long: 'x'.repeat(200_000) });
  expect([made.status, made.body.long.length]).toEqual([201, 200_000]);
  expect((await api.call('GET', `${flunders}/a`)).body.long).toHaveLength(200_000);
  expect((await api.call('DELETE', `${flunders}/a`)).status).toBe(200);
});

test('its certificate is looked at', async () => {
  await run('a');
  const other = await startExtension();
  try {
    await api.call('PATCH', `${apiServices}/v1alpha1.${group}`, { spec: { caBundle: other.caBundle } });
    await eventually(async () => expect((await get()).body).toContain('unknown authority'));
    const spec = { caBundle: null, insecureSkipTLSVerify: true };
    await api.call('PATCH', `${apiServices}/v1alpha1.${group}`, { spec });
    expect((await get()).status).toBe(200);
  } finally {
    await other.close();
  }
});

test('reads share a connection, which nothing but they use', async () => {
  await run('a');
  for (let i = 0; i < 30; i++) expect((await get()).status).toBe(200);
  expect(pods.asked).toHaveLength(1);
  await api.call('POST', flunders, flunder('a'));
  expect(pods.asked).toHaveLength(2);
  await Promise.all(Array.from({ length: 20 }, get));
  await eventually(() => expect(pods.open.size).toBeLessThanOrEqual(2));
});

test('a connection that was closed while it waited is no failure of a read', async () => {
  await run('a');
  for (let i = 0; i < 5; i++) {
    expect((await get()).status).toBe(200);
    for (const far of pods.open) far.destroy();
    expect((await get()).status).toBe(200);
  }
});

test('a watch goes through it, and ends with whoever watches', async () => {
  await run('a');
  const ended = new AbortController();
  const events = watch(api.server.transport(admin), `${flunders}?watch=true`, ended.signal);
  const first = take(events, 1);
  await eventually(() => expect(extension.asked).toHaveLength(1));
  await api.call('POST', flunders, flunder('a'));
  expect(await first).toMatchObject([{ type: 'ADDED' }]);
  ended.abort();
  await expect(take(events, 1)).rejects.toThrow();
  await eventually(() => expect(pods.open.size).toBe(0));
});

test('a tunnel goes through it', async () => {
  await run('a');
  const headers = { connection: 'Upgrade', upgrade: 'echo/1' };
  const response = await api.server.transport(admin)({ method: 'GET', url: `${flunders}/a/exec`, headers });
  const tunnel = response.tunnel ?? expect.fail();
  tunnel.write('hello');
  const [said] = (await tunnel.take(1).toArray()) as Buffer[];
  expect(String(said)).toBe('hello');
  tunnel.destroy();
  await eventually(() => expect(pods.open.size).toBe(0));
});

describe('which pods', () => {
  test('are asked: those that are ready, and another one where one is not reached', async () => {
    await pods.add('unready', extension.port);
    await pods.add('good', extension.port);
    await pods.add('refused', await closedPort());
    await pods.slice(['refused', 'good', 'nobody'], { unready: ['unready'] });
    const answers = [];
    for (let i = 0; i < 12; i++) answers.push((await api.call('POST', flunders, flunder(`f${i}`))).status);
    expect(answers).toEqual(Array(12).fill(201));
    expect(pods.asked.filter((one) => one.startsWith('unready'))).toEqual([]);
    // One that was not reached is left alone then.
    expect(pods.asked.filter((one) => one.startsWith('refused')).length).toBeLessThanOrEqual(1);
  });

  test('none, where none is ready, nor at the address that its cluster has', async () => {
    await pods.add('a', extension.port);
    await pods.slice([], { unready: ['a'] });
    expect(await get()).toMatchObject({ status: 503, body: 'service unavailable\n' });
    expect(pods.asked).toEqual([]);
  });

  test('one that was made anew under its name is another one', async () => {
    await pods.add('a', extension.port);
    await pods.slice(['a']);
    expect((await get()).status).toBe(200);
    await pods.remove('a');
    await api.call('POST', flunders, flunder('a'));
    expect((await api.call('POST', flunders, flunder('b'))).body).toContain('pod "a" is gone');
  });

  test('what a user writes into a slice of their own leads to no pod', async () => {
    await pods.add('a', extension.port);
    await api.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'own',
        labels: { 'kubernetes.io/service-name': 'wardle' },
        annotations: { 'atoll.dev/physical-cluster': 'west', 'internal.atoll.dev/reflected-uid': 'u' },
      },
      addressType: 'IPv4',
      ports: [{ name: 'api', port: 6443 }],
      endpoints: [{ addresses: ['127.0.0.1'], targetRef: { kind: 'Pod', name: 'a', uid: 'uid-a' } }],
    });
    await get();
    expect(pods.asked).toEqual([]);
  });
});

describe('whoever is evil in its forward', () => {
  const failing = (why: string | RegExp) =>
    expect(get()).resolves.toMatchObject({ status: 503, body: expect.stringMatching(why) });

  test('keeps 64 forwards open of a logical cluster, and those that do not open go with who asked', async () => {
    const ended = new AbortController();
    setMaxListeners(0, ended.signal);
    await pods.add('never', () => new Promise(() => undefined));
    await pods.slice(['never']);
    const transport = api.server.transport(admin);
    const asking = Array.from({ length: 200 }, () =>
      transport({ method: 'DELETE', url: `${flunders}/a`, headers: {}, signal: ended.signal }).catch(
        () => undefined,
      ),
    );
    const refused = await Promise.race([...asking.slice(0, 64), Promise.all(asking.slice(64))]);
    expect(refused).toHaveLength(136);
    for (const answer of refused as { status: number }[]) expect(answer.status).toBe(429);
    await eventually(() => expect(pods.asked).toHaveLength(64));
    ended.abort();
    await Promise.all(asking);
    await pods.add('never', extension.port);
    expect((await api.call('POST', flunders, flunder('a'))).status).toBe(201);
  });

  test('is told what the cluster says instead', async () => {
    const headers = { 'content-type': 'application/json' };
    await pods.add('a', () => ({
      status: 403,
      headers,
      body: Buffer.from('{"message":"no portforward here"}'),
    }));
    await pods.slice(['a']);
    await failing('403 .*no portforward here');
  });

  test('is refused another protocol', async () => {
    await pods.add('a', (request) => {
      const { response } = accept(request);
      return { ...response, headers: { ...response.headers, 'sec-websocket-protocol': 'v5.channel.k8s.io' } };
    });
    await pods.slice(['a']);
    await failing('another protocol');
  });

  test.each([
    ['no frames', Buffer.from('HTTP/1.1 400 no\r\n\r\n'), 'no forward'],
    ['another channel', data(7, Buffer.from('x')), 'channel 7'],
    ['a huge frame', Buffer.from([0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]), 'a message of'],
    [
      'no TLS',
      Buffer.concat([data(0, portBytes(8443)), data(0, Buffer.from('SSH-2.0-x\r\n'))]),
      'HTTP response|EOF|wrong version',
    ],
    ['an end', served(8, Buffer.from([3, 232])), 'EOF|reset|hang up|disconnected'],
  ])('is refused %s', async (_what, bytes, why) => {
    await pods.add('a', (request) => {
      const { response, far } = accept(request);
      far.on('error', () => undefined);
      far.write(bytes);
      return response;
    });
    await pods.slice(['a']);
    await failing(why);
  });

  test('an answer without end is read no faster than it is taken, and ends with who asked', async () => {
    await run('a');
    let sent = 0;
    let closed = false;
    extension.instead = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const fill = () => {
        while (!closed && response.write(Buffer.alloc(65_536, ' '))) sent += 65_536;
      };
      response.on('drain', fill).on('close', () => {
        closed = true;
      });
      fill();
      return true;
    };
    const ended = new AbortController();
    const request = { method: 'GET', url: flunders, headers: {}, signal: ended.signal };
    const { body } = await api.server.transport(admin)(request);
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    let before = -1;
    // What is between the two ends has room for some.
    await eventually(() => {
      const grew = sent - before;
      before = sent;
      expect(grew).toBe(0);
    });
    expect(sent).toBeLessThan(64 << 20);
    ended.abort();
    await eventually(() => expect([closed, pods.open.size]).toEqual([true, 0]));
  });

  test('resets in the midst of an answer end that answer', async () => {
    await run('a');
    extension.instead = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"kind":');
      setImmediate(() => {
        for (const far of pods.open) far.destroy();
      });
      return true;
    };
    await expect(get()).rejects.toThrow();
    extension.instead = undefined;
    expect((await get()).status).toBe(200);
  });

  test('what comes when nobody asked is no answer to the next', async () => {
    const server = await smuggler();
    await pods.add('a', server.port);
    await pods.slice(['a']);
    await api.call('PATCH', `${apiServices}/v1alpha1.${group}`, {
      spec: { caBundle: null, insecureSkipTLSVerify: true },
    });
    for (let i = 0; i < 3; i++) {
      expect((await get()).body).toEqual({ nth: 'first' });
      await eventually(() => expect(pods.open.size).toBe(0));
    }
    await server.close();
  });
});

test('whether it is available is asked the same way', async () => {
  await api.call('PATCH', `${apiServices}/v1alpha1.${group}/status`, {
    status: { conditions: [{ type: 'Available', status: 'False', reason: 'Unknown', message: '' }] },
  });
  await run('a');
  const { stop } = control(api, (options) => runAvailabilityController({ ...options, everyMs: 100 }));
  const says = (status: string) =>
    eventually(async () => {
      const { body } = await api.call('GET', `${apiServices}/v1alpha1.${group}`);
      expect(body.status.conditions).toMatchObject([{ status }]);
      return body.status.conditions[0];
    });
  await says('True');
  expect(pods.asked.length).toBeGreaterThan(0);
  await pods.add('a', await closedPort());
  for (const far of pods.open) far.destroy();
  expect((await says('False')).message).toContain('error forwarding port 8443');
  await stop();
});

/** Where nobody listens. */
async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Answers each request twice. */
async function smuggler(): Promise<Extension> {
  const server = await startExtension();
  const answer = (nth: string) => {
    const body = JSON.stringify({ nth });
    return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  server.instead = (request) => {
    request.socket.write(answer('first'));
    setImmediate(() => request.socket.write(answer('second')));
    return true;
  };
  return server;
}
