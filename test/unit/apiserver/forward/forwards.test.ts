import { once } from 'node:events';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ForwardAgent, NotConnectedError } from '../../../../apiserver/forward/agent.ts';
import { ForwardError } from '../../../../apiserver/forward/connection.ts';
import { Forwards } from '../../../../apiserver/forward/forwards.ts';
import { Idle } from '../../../../apiserver/forward/idle.ts';
import { Places } from '../../../../apiserver/forward/places.ts';
import type { PodPort } from '../../../../apiserver/forward/target.ts';
import type { ApiRequest, ApiResponse } from '../../../../kube/http.ts';
import { StatusError } from '../../../../kube/status.ts';
import { startExtension } from '../../../aggregation/extension.ts';
import { accept, data, join, portBytes } from '../../../aggregation/forward.ts';

const target: PodPort = { cluster: 'c', namespace: 'ns', pod: 'web', uid: 'u', port: 8443 };
let uid: string | undefined;
let asked: ApiRequest[];
let far: Duplex[];
let answer: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;
let forwards: Forwards;
beforeEach(() => {
  uid = 'u';
  asked = [];
  far = [];
  answer = (request) => {
    const accepted = accept(request);
    far.push(accepted.far);
    return accepted.response;
  };
  forwards = make();
});
afterEach(() => forwards.close());

function make(places = new Places(), everyMs = 5): Forwards {
  return new Forwards({
    places,
    everyMs,
    registry: {
      get: async (address) => {
        if (uid === undefined) throw new StatusError(404, 'NotFound', 'no pod');
        return { apiVersion: 'v1', kind: 'Pod', metadata: { name: address.name, namespace: 'ns', uid } };
      },
    },
    connectPod: () => ({
      path: '/api/v1/namespaces/there/pods/web',
      transport: async (request) => {
        asked.push(request);
        request.signal?.throwIfAborted();
        return answer(request);
      },
    }),
  });
}

const never = new AbortController().signal;

test('asks the pod’s cluster for that port alone', async () => {
  const connection = await forwards.open(target, never);
  expect(asked[0]).toMatchObject({
    method: 'GET',
    url: '/api/v1/namespaces/there/pods/web/portforward?ports=8443',
    headers: { upgrade: 'websocket', 'sec-websocket-protocol': 'v4.channel.k8s.io' },
  });
  far[0]?.write(Buffer.concat([data(0, portBytes(8443), Buffer.from('hello'))]));
  const [said] = await once(connection, 'data');
  expect(String(said)).toBe('hello');
  expect(forwards.count).toBe(1);
  connection.destroy();
  await once(connection, 'close');
  expect(forwards.count).toBe(0);
});

test('what is not open yet ends with whoever asked, also where its answer comes later', async () => {
  const ended = new AbortController();
  let late = (_response: ApiResponse) => {};
  let request: ApiRequest | undefined;
  answer = (one) => {
    request = one;
    return new Promise((resolve) => {
      late = resolve;
    });
  };
  const opening = forwards.open(target, ended.signal);
  opening.catch(() => undefined);
  await expect.poll(() => asked).toHaveLength(1);
  ended.abort(new Error('gone'));
  expect(request?.signal?.aborted).toBe(true);
  const { response, far: other } = accept(request!);
  late(response);
  await expect(opening).rejects.toThrow('gone');
  await once(other, 'close');
  expect(forwards.count).toBe(0);
});

test.each([
  ['is gone', undefined],
  ['is gone', 'another'],
])('a pod that %s is not asked: %s', async (why, now) => {
  uid = now;
  await expect(forwards.open(target, never)).rejects.toThrow(`pod "web" ${why}`);
  expect(asked).toEqual([]);
  expect(forwards.count).toBe(0);
});

test('one that goes takes its forwards along', async () => {
  const connection = await forwards.open(target, never);
  const failed = once(connection, 'failed');
  uid = 'another';
  expect((await failed)[0]).toMatchObject({ message: 'pod "web" is gone' });
  await once(far[0]!, 'close');
});

test('of too many the oldest of whoever has the most ends', async () => {
  forwards.close();
  forwards = make(new Places(2), 1_000_000);
  const [first] = [await forwards.open(target, never), await forwards.open(target, never)];
  const failed = once(first, 'failed');
  const other = await forwards.open({ ...target, cluster: 'd' }, never);
  expect((await failed)[0]).toBeInstanceOf(ForwardError);
  expect([first.destroyed, other.destroyed, forwards.count]).toEqual([true, false, 2]);
});

test('a long answer that is no forward is not read', async () => {
  let read = 0;
  const body = (async function* () {
    for (;;) {
      read++;
      yield Buffer.alloc(100_000, 'x');
    }
  })();
  answer = () => ({ status: 500, headers: {}, body });
  const failure = await forwards.open(target, never).catch((error: Error) => error);
  expect((failure as Error).message).toBe(`the cluster forwards nothing: 500 ${'x'.repeat(300)}`);
  expect(read).toBe(1);
});

describe('TLS in it', () => {
  const ask = (connectMs: number) =>
    new Promise<Error>((resolve, reject) => {
      const agent = new ForwardAgent(forwards, { connectMs });
      const options = { agent, host: 'pod', target, asking: never, rejectUnauthorized: false };
      https.get(options, () => reject(new Error('there is an answer'))).on('error', resolve);
    });

  test.each([
    ['a cluster that never answers', () => new Promise<ApiResponse>(() => undefined)],
    ['a pod that says nothing', (request: ApiRequest) => accept(request).response],
  ])('is not waited for: %s', async (_what, given) => {
    answer = given;
    const error = await ask(20);
    expect(error).toBeInstanceOf(NotConnectedError);
    expect(error.cause).toMatchObject({ name: 'TimeoutError' });
    await expect.poll(() => forwards.count).toBe(0);
  });

  test('is kept for the next request to that pod, and closed when there is none', async () => {
    const extension = await startExtension();
    answer = (request) => {
      const { response, far } = accept(request);
      join(far, 8443, extension.port);
      return response;
    };
    const agent = new ForwardAgent(forwards, { keep: new Idle(), idleMs: 50 });
    const get = async (target: PodPort) => {
      const options = { agent, host: 'pod', target, asking: never, rejectUnauthorized: false, path: '/' };
      const [response] = await once(https.get(options), 'response');
      await once(response.resume(), 'close');
    };
    try {
      for (let i = 0; i < 15; i++) await get(target);
      const reused = asked.length;
      expect(reused).toBeLessThan(15);
      uid = 'another';
      await get({ ...target, uid: 'another' });
      expect(asked.length).toBe(reused + 1);
      await expect.poll(() => forwards.count).toBe(0);
    } finally {
      agent.destroy();
      await extension.close();
    }
  });

  test('fails with what the node says', async () => {
    answer = (request) => {
      const { response, far } = accept(request);
      far.on('error', () => undefined);
      far.write(
        Buffer.concat([data(0, portBytes(8443)), data(1, portBytes(8443)), data(1, Buffer.from('refused'))]),
      );
      return response;
    };
    expect((await ask(60_000)).cause).toMatchObject({ message: 'refused' });
  });
});
