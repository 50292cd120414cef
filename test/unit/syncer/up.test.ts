import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { Engine, RunningPods } from '../../../syncer/engine.ts';
import { targetOf } from '../../../syncer/target.ts';
import { runUp } from '../../../syncer/up.ts';

const life = new AbortController();
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  life.abort();
  vi.useRealTimers();
});

const numbers = { replicas: 1, ordinalsStart: 2 };
const locator = { syncer: 's', cluster: 'c', namespace: 'n', resource: 'statefulsets', name: 'db', uid: 'u' };
const since = '2030-01-01T00:00:00.000Z';
const share: ShareView = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Share',
  metadata: { name: 'db', namespace: 'n', uid: 'p', resourceVersion: '1' },
  spec: {
    ref: {
      group: 'apps',
      version: 'v1',
      resource: 'statefulsets',
      kind: 'StatefulSet',
      name: 'db',
      uid: 'u',
    },
    locator,
    physicalNamespace: 'n',
    generation: 1,
    manifest: { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'n' } },
    share: { ...numbers, phase: 'Active', held: { replicas: 2, ordinalsStart: 1, since } },
  } as unknown as NonNullable<ShareView['spec']>,
};
const there = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    name: 'db',
    namespace: 'n',
    uid: 'there',
    annotations: { [locatorAnnotation]: JSON.stringify(locator) },
  },
  status: { observedGeneration: 1, replicas: 1 },
};

test('how many pods are left of what is held is told also when they are known only later, and nothing else happens', async () => {
  let pods: RunningPods | undefined;
  const sent: unknown[] = [];
  const id = targetOf(share);
  const up = new WorkQueue();
  const applied = { uid: 'there', physicalGeneration: 1, generation: 1, share: numbers };
  const engine = {
    name: 'east',
    uid: 's',
    former: new Set(),
    shares: { byIndex: () => [share] },
    records: new Map([[id, { applied, requires: [], repairs: 0, repairNotBefore: 0, absent: false }]]),
    physical: { cached: () => there },
    runningPods: () => pods,
    upstream: {
      patch: async (...[, , , { status }]: [unknown, unknown, unknown, { status: unknown }]) => {
        sent.push(status);
        return { metadata: { resourceVersion: String(sent.length + 1) } };
      },
    },
    up,
    signal: life.signal,
    logger,
  };
  void runUp(engine as unknown as Engine, []);
  up.add(id);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toEqual([expect.not.objectContaining({ pods: expect.anything() })]);
  pods = { count: 1, ordinals: { start: 2, end: 3 } };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ pods: { since, count: 1, ordinals: { start: 2, end: 3 } } });
});
