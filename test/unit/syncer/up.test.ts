import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import { noRush } from '../../../controller/rush.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { Engine, RunningPods } from '../../../syncer/engine.ts';
import { targetOf } from '../../../syncer/target.ts';
import { runUp } from '../../../syncer/up.ts';

let life: AbortController;
beforeEach(() => {
  life = new AbortController();
  vi.useFakeTimers();
});
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
    rush: noRush,
    name: 'east',
    uid: 's',
    former: new Set(),
    shares: { byIndex: () => [share] },
    records: new Map([[id, { applied, requires: [], repairs: 0, repairNotBefore: 0, absent: false }]]),
    physical: { cached: () => there },
    runningPods: () => pods,
    unplacedPod: () => undefined,
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

/** What is told when, in milliseconds, of a Deployment of two replicas: each step is what is there from then on. */
async function told(steps: readonly { at: number; there?: object; leaves?: boolean; absent?: boolean }[]) {
  const sent: [number, unknown][] = [];
  const began = Date.now();
  const record = {
    applied: { uid: 'there', physicalGeneration: 1, generation: 1, share: { replicas: 2 } },
    requires: [],
    repairs: 0,
    repairNotBefore: 0,
    absent: false,
    writtenAt: began,
  };
  let now: (typeof steps)[number] = { at: 0 };
  const view = (): ShareView => {
    const { manifest, ...spec } = share.spec as NonNullable<ShareView['spec']>;
    const ref = { ...spec.ref, resource: 'deployments', kind: 'Deployment' };
    const kept = { ...spec, ref, share: { phase: 'Active', replicas: 2 } as const };
    return { ...share, spec: now.leaves ? kept : { ...kept, ...(manifest && { manifest }) } };
  };
  const up = new WorkQueue();
  const id = targetOf(view());
  const engine = {
    rush: noRush,
    name: 'east',
    uid: 's',
    former: new Set(),
    shares: { byIndex: () => [view()] },
    unplacedPod: () => undefined,
    records: new Map([[id, record]]),
    physical: { cached: () => now.there && { ...there, kind: 'Deployment', status: now.there } },
    upstream: {
      patch: async (...[, , , { status }]: [unknown, unknown, unknown, { status: unknown }]) => {
        sent.push([Date.now() - began, status]);
        return { metadata: { resourceVersion: String(sent.length + 1) } };
      },
    },
    up,
    signal: life.signal,
    logger,
  };
  void runUp(engine as unknown as Engine, []);
  for (const step of steps) {
    await vi.advanceTimersByTimeAsync(step.at - (Date.now() - began));
    now = step;
    record.absent = step.absent === true;
    up.add(id);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  up.close();
  return sent;
}

const of = (replicas: number, availableReplicas: number) => ({
  observedGeneration: 1,
  replicas,
  availableReplicas,
});

test('what has just been applied is told once its controller has seen it', async () => {
  const sent = await told([
    { at: 0, there: {} },
    { at: 40, there: of(2, 0) },
  ]);
  expect(sent).toEqual([[40, expect.objectContaining({ present: true, status: of(2, 0) })]]);
});

test('what no controller sees is told all the same', async () => {
  expect(await told([{ at: 0, there: {} }])).toEqual([[500, expect.objectContaining({ present: true })]]);
});

test('that all of it is there is told at once, the steps before it are gathered', async () => {
  const sent = await told([
    { at: 0, there: of(2, 0) },
    { at: 10, there: of(2, 1) },
    { at: 20, there: of(2, 2) },
  ]);
  expect(sent.map(([at]) => at)).toEqual([0, 20]);
});

test('that it is gone is told at once, the steps before it are gathered', async () => {
  const sent = await told([
    { at: 0, there: of(2, 2) },
    { at: 1000, there: of(1, 1), leaves: true },
    { at: 1200, there: of(0, 0), leaves: true },
    { at: 1300, leaves: true, absent: true },
  ]);
  expect(sent).toEqual([
    [0, expect.objectContaining({ status: of(2, 2) })],
    [1000, expect.objectContaining({ status: of(1, 1) })],
    [1300, { present: false }],
  ]);
});

test('what was written while the share changed is written over, though the share shows the word before it', async () => {
  const withdrawn = { share: { withdrawn: true }, present: true };
  const record = {
    applied: { uid: 'there', physicalGeneration: 0, generation: 0, share: { withdrawn: true } as object },
    requires: [],
    repairs: 0,
    repairNotBefore: 0,
    absent: false,
  };
  const { manifest: _, ...rest } = share.spec as NonNullable<ShareView['spec']>;
  const ref = { group: '', version: 'v1', resource: 'services', kind: 'Service', name: 'db', uid: 'u' };
  const spec = { ...rest, ref, share: { phase: 'Active' } } as NonNullable<ShareView['spec']>;
  let view: ShareView = { ...share, spec };
  const id = targetOf(view);
  const sent: unknown[] = [];
  const up = new WorkQueue();
  const engine = {
    rush: noRush,
    name: 'east',
    uid: 's',
    former: new Set(),
    shares: { byIndex: () => [view] },
    unplacedPod: () => undefined,
    records: new Map([[id, record]]),
    physical: { cached: () => ({ ...there, apiVersion: 'v1', kind: 'Service', status: {} }) },
    upstream: {
      patch: async (...[, , , { status }]: [unknown, unknown, unknown, { status: unknown }]) => {
        sent.push(status);
        // As of 5 the share was the former one; it changed at 6, and this was stored at 7.
        return { metadata: { resourceVersion: sent.length === 1 ? '5' : '8' } };
      },
    },
    up,
    signal: life.signal,
    logger,
  };
  void runUp(engine as unknown as Engine, []);
  up.add(id);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toEqual([expect.objectContaining(withdrawn)]);
  const before = { ...(sent[0] as object), share: {} } as NonNullable<ShareView['status']>;
  view = { ...view, metadata: { ...view.metadata, resourceVersion: '6' }, status: before };
  record.applied = { ...record.applied, share: {} };
  up.add(id);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(before);
  up.add(id);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toHaveLength(2);
});
