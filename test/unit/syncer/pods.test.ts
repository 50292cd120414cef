import { afterEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import { deferred } from '../../../client/informer.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import { StatusError } from '../../../kube/status.ts';
import type { Engine } from '../../../syncer/engine.ts';
import type { Owners } from '../../../syncer/owners.ts';
import { Physical } from '../../../syncer/physical.ts';
import { PodReflector } from '../../../syncer/pods.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';
import { eventually } from '../../eventually.ts';

const podKind = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' };
const id = 'deployments.apps/shop/web';
const silence = new TransportError('ECONNREFUSED', 'no answer');
const notFound = new StatusError(404, 'NotFound', 'the server could not find the requested resource');

let life = new AbortController();
afterEach(() => life.abort());

const answer = (body: object): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});

/** It tells of nothing, until `end` rejects. */
async function* open(end?: Promise<void>): AsyncIterable<Uint8Array> {
  const { signal } = life;
  await Promise.race(
    [end, new Promise((resolve) => signal.addEventListener('abort', resolve))].filter(Boolean),
  );
  yield* [];
}

/** Of a cluster without pods; `fault`: of its unlabelled lists and watches. What has our label is answered always. */
async function start() {
  life = new AbortController();
  const { signal } = life;
  const state: { fault: Error | undefined } = { fault: undefined };
  let closeWatch: () => void = () => {};
  const client = new Client(async ({ url }: ApiRequest) => {
    const isLabelled = url.includes('labelSelector');
    if (!isLabelled && state.fault) throw state.fault;
    if (!url.includes('watch=true'))
      return answer({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] });
    if (isLabelled) return { ...answer({}), body: open() };
    const { promise, reject } = deferred();
    closeWatch = () => reject(state.fault);
    return { ...answer({}), body: open(promise) };
  });
  const unreadable = new Unreadable(() => {});
  const ignore = () => {};
  const physical = new Physical({
    client,
    signal,
    logger,
    unreadable,
    changed: ignore,
    appeared: ignore,
    readable: ignore,
  });
  const engine = { name: 'east', client, signal, logger, unreadable, physical } as unknown as Engine;
  const pods = new PodReflector(engine, {} as Owners, new Map());
  pods.informer.wake();
  await pods.informer.synced;
  const fail = async (fault: Error) => {
    state.fault = fault;
    closeWatch();
    await eventually(() => expect(pods.running(id, 'shop')).toBeUndefined());
  };
  const mend = () => {
    state.fault = undefined;
    unreadable.answered(true);
  };
  return { pods, physical, unreadable, fail, mend };
}

test('who is told of no pods any more counts none, whatever others are answered of pods', async () => {
  const { pods, physical, fail, mend } = await start();
  expect(pods.running(id, 'shop')).toEqual({ count: 0 });
  await fail(silence);
  // A question of one item, and an informer of those that are placed, which rests again.
  await physical.start([podKind]);
  await physical.watch(podKind);
  expect(pods.running(id, 'shop')).toBeUndefined();
  physical.rest(new Set(), 0);
  expect([pods.running(id, 'shop'), pods.hasPods(id)]).toEqual([undefined, true]);
  mend();
  await eventually(() => expect(pods.running(id, 'shop')).toEqual({ count: 0 }));
});

test('who is told that there is no such resource does not count what was there before', async () => {
  const { pods, fail, mend } = await start();
  await fail(notFound);
  expect(pods.hasPods(id)).toBe(true);
  mend();
  await eventually(() => expect(pods.running(id, 'shop')).toEqual({ count: 0 }));
});
