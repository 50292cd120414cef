import { expect, test } from 'vitest';
import { asRuled } from '../../../cluster/ruled.ts';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { conditionsOf } from '../../../splitter/conditions.ts';
import { atRest } from '../../../splitter/handover.ts';

const deployment = (paused: boolean, kind = 'Deployment'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: { replicas: 2, ...(paused && { paused }) },
});
const halted =
  'waiting for west (its rollout is paused, so none of its pods is made there; kubectl rollout resume); until then it stays on east';
const joining = 'waiting for west; until then it stays on east';

const ruled = (spec: object) =>
  asRuled({ apiVersion: 'example.com/v1', kind: 'Rollout', metadata: { name: 'web' }, spec } as KubeObject, {
    specReplicasPath: '.spec.replicas',
  });
const haltedByRule =
  'waiting for west (its spec.paused is true, so its controller may make none of its pods there); until then it stays on east';

test.each<[string, KubeObject, number, string]>([
  ['a custom resource is paused, and none is there', ruled({ replicas: 2, paused: true }), 0, haltedByRule],
  ['a custom resource is paused, and all are there', ruled({ replicas: 2, paused: true }), 2, joining],
  ['a custom resource is not paused', ruled({ replicas: 2 }), 0, joining],
  ['its rollout is paused, and none is there', deployment(true), 0, halted],
  ['its rollout is paused, and all are there, and not ready', deployment(true), 2, joining],
  ['its rollout is not paused', deployment(false), 0, joining],
  ['nothing else is paused so', deployment(true, 'ReplicaSet'), 0, joining],
])('whom a move waits for: %s', (_what, root, updatedReplicas, message) => {
  const spec = { clusters: ['west'], ref: { kind: root.kind } } as unknown as NonNullable<Placement['spec']>;
  const placement = { metadata: { name: 'web' }, spec } as Placement;
  const shares: Record<string, Share> = {
    east: { phase: 'Active', replicas: 2 },
    west: { phase: 'Joining', replicas: 2 },
  };
  const slices: Record<string, ClusterSlice> = { west: { present: true, status: { updatedReplicas } } };
  const input = { ...atRest, placement, shares, slices, waitingFor: ['west'], gone: false, root, now: 0 };
  const settled = conditionsOf(input).find(({ type }) => type === 'Settled');
  expect(settled).toMatchObject({ status: 'False', reason: 'Joining', message });
});

const object = (kind: string, clusters: string[]): Placement =>
  ({
    metadata: { name: 'web' },
    spec: {
      clusters,
      ref: { ...refs[kind as keyof typeof refs], kind, name: 'web', uid: 'u', version: 'v1' },
    },
  }) as Placement;
const refs = {
  Deployment: { group: 'apps', resource: 'deployments' },
  ConfigMap: { group: '', resource: 'configmaps' },
};

test.each<[string, Share['phase'], Share['phase'], string]>([
  ['one that serves', 'Active', 'Joining', 'waiting for west; until then it stays on east'],
  ['one that is withdrawn', 'Withdrawing', 'Joining', 'waiting for west; until then it stays on east'],
  ['none that had not come yet before an edit back', 'Joining', 'Active', 'waiting for west'],
  ['none that is on its way out', 'Leaving', 'Active', 'waiting for west'],
])('where it stays until then is %s', (_what, east, west, message) => {
  const shares: Record<string, Share> = { east: { phase: east }, west: { phase: west } };
  const placement = object('Deployment', ['west']);
  const input = { ...atRest, placement, shares, slices: {}, waitingFor: ['west'], gone: false, now: 0 };
  expect(conditionsOf(input)[1]).toMatchObject({ reason: 'Joining', message });
  const held = { held: ['Deployment db'], without: [] };
  const [, settled] = conditionsOf({ ...input, waitingFor: [], hold: { ...atRest.hold, ...held } });
  const stays = message.includes('east') ? 'east' : 'west';
  expect(settled?.message).toContain(`until then it stays on ${stays};`);
});

test.each<[string, string[], object]>([
  ['one that it moves with', ['Deployment web'], { reason: 'WaitingForOthers' }],
  ['a word of its user', ['paused'], { reason: 'Paused' }],
])(
  'what may not run twice says that it waits for %s, not for where it cannot start before',
  (_, held, expected) => {
    const shares: Record<string, Share> = { east: { phase: 'Active' }, west: { phase: 'Active' } };
    const placement = object('Deployment', ['west']);
    const hold = { ...atRest.hold, held };
    const of = { placement, shares, slices: {}, waitingFor: ['west'], hold, gone: false, now: 0 };
    const [, once] = conditionsOf({ ...atRest, ...of, once: true });
    expect(once).toMatchObject({ ...expected, message: expect.stringContaining('it stays on east') });
    const [, other] = conditionsOf({ ...atRest, ...of, once: false });
    expect(other, 'of others something is waited for there').toMatchObject({ reason: 'Joining' });
  },
);

test('what no workload needs is nowhere for that, not for want of clusters', () => {
  const said = (kind: string) => {
    const placement = object(kind, []);
    const shares: Record<string, Share> = { east: { phase: 'Leaving' } };
    return conditionsOf({ ...atRest, placement, shares, slices: {}, waitingFor: [], gone: false, now: 0 })[0];
  };
  expect(said('ConfigMap')?.message).toBe('no workload that is placed needs it');
  expect(said('Deployment')?.message).toBe('there is no physical cluster');
});

test('what has ended and left is waited for nowhere, and on its way out until it is gone', () => {
  const spec = { clusters: ['west'], ref: { kind: 'Job' } } as unknown as NonNullable<Placement['spec']>;
  const placement = { metadata: { name: 'migrate' }, spec } as Placement;
  const conditions = [{ type: 'Complete', status: 'True' }];
  const root: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'migrate' },
    status: { conditions },
  };
  const input = { ...atRest, begun: true, placement, slices: {}, waitingFor: [], gone: false, root, now: 0 };
  const settled = (shares: Record<string, Share>) => conditionsOf({ ...input, shares })[1];
  const nowhere = { ...placement, spec: { ...spec, clusters: [] } };
  expect(conditionsOf({ ...input, placement: nowhere, shares: {} })[1]).toMatchObject({ status: 'True' });
  expect(settled({ east: { phase: 'Leaving' } })).toMatchObject({ status: 'False', reason: 'Leaving' });
  const message = 'it has ended, and is not made again';
  expect(settled({})).toMatchObject({ status: 'True', reason: 'Settled', message });
  expect(conditionsOf({ ...input, shares: {} })[0]).toMatchObject({
    type: 'Placed',
    status: 'True',
    reason: 'Ended',
    message,
  });
  expect(conditionsOf({ ...input, shares: { east: { phase: 'Leaving' } } })[0]).toMatchObject({
    reason: 'Placed',
  });
});

test('a Job that has started is said to end where it is, and not to wait for where it is to be', () => {
  const placement = object('Deployment', ['west']);
  const shares: Record<string, Share> = { east: { phase: 'Active' } };
  const input = {
    ...atRest,
    begun: true,
    placement,
    shares,
    slices: {},
    waitingFor: [],
    gone: false,
    now: 0,
  };
  expect(conditionsOf(input)[1]).toMatchObject({
    status: 'False',
    reason: 'Leaving',
    message: 'still on east; it has started there, and ends there',
  });
});

test('a cluster that has no node for its pods is waited for, and that is told', () => {
  const placement = object('Deployment', ['west']);
  const why = 'no node there has the label disk=ssd, as its pods ask';
  const shares: Record<string, Share> = { east: { phase: 'Active' }, west: { phase: 'Joining' } };
  const input = { ...atRest, shares, slices: {}, waitingFor: ['west'], gone: false, now: 0 };
  const told = (reason: string) => {
    const spec = { ...placement.spec, reasons: { west: reason } } as NonNullable<Placement['spec']>;
    return conditionsOf({ ...input, placement: { ...placement, spec } })[1]?.message;
  };
  expect(told(`it has the most room, though ${why}`)).toBe(
    `waiting for west (${why}); until then it stays on east`,
  );
  expect(told('it has the most room')).toBe('waiting for west; until then it stays on east');
});

test('why a cluster refuses pods that are waited for is told, as long as it does', () => {
  const placement = object('Deployment', ['west']);
  const shares: Record<string, Share> = { east: { phase: 'Active' }, west: { phase: 'Joining' } };
  const told = (status: 'True' | 'False', spec: object = {}) => {
    const message = 'pods "web-1" is forbidden: exceeded quota: tight';
    const conditions = [{ type: 'ReplicaFailure', status, message }];
    const slices = { west: { present: true, status: { conditions } } };
    const root = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
    const input = { ...atRest, placement, shares, slices, root, waitingFor: ['west'], gone: false, now: 0 };
    return conditionsOf(input)[1]?.message;
  };
  expect(told('True')).toBe(
    'waiting for west (pods are refused there: pods "web-1" is forbidden: exceeded quota: tight); until then it stays on east',
  );
  expect(told('False')).toBe('waiting for west; until then it stays on east');
  expect(told('True', { paused: true }), 'its user pauses it').toContain('kubectl rollout resume');
});

test('why no node takes a pod that is waited for is told, of what was placed as a Pod too', () => {
  const placement = object('Deployment', ['west']);
  const shares: Record<string, Share> = { east: { phase: 'Active' }, west: { phase: 'Joining' } };
  const message = '0/2 nodes are available: 2 Insufficient cpu.';
  const told = (west: object) => {
    const slices = { west: { present: true, ...west } };
    const input = { ...atRest, placement, shares, slices, waitingFor: ['west'], gone: false, now: 0 };
    return conditionsOf(input)[1]?.message;
  };
  const words = `waiting for west (a pod has no node there: ${message}); until then it stays on east`;
  expect(told({ unplaced: message })).toBe(words);
  expect(told({ status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] } })).toBe(words);
  expect(told({})).toBe('waiting for west; until then it stays on east');
});

test('what was made anew before the former one has left is told whom it waits for', () => {
  const placement = object('Deployment', []);
  const shares: Record<string, Share> = { east: { phase: 'Leaving' }, west: { phase: 'Leaving' } };
  const input = { ...atRest, placement, shares, slices: {}, waitingFor: [], gone: true, now: 0 };
  const told = (renewed: boolean) => conditionsOf({ ...input, renewed })[0]?.message;
  expect(told(true)).toBe(
    'the object was deleted, and made anew: that is placed when what it was before has left east, west',
  );
  expect(told(false)).toBe('the object is being deleted');
});

test('of many clusters that refuse its pods each is named, and a few are told why', () => {
  const names = Array.from({ length: 100 }, (_, i) => `c${String(i).padStart(2, '0')}`);
  const message = `pods "web-1" is forbidden: ${'no '.repeat(300)}`;
  const status = { conditions: [{ type: 'ReplicaFailure', status: 'True', message }] };
  const placement = object('Deployment', names);
  const shares = Object.fromEntries(names.map((name): [string, Share] => [name, { phase: 'Joining' }]));
  const slices = Object.fromEntries(names.map((name) => [name, { present: true, status }]));
  const input = { ...atRest, placement, shares, slices, waitingFor: names, gone: false, now: 0 };
  const told = conditionsOf(input)[1]?.message ?? '';
  expect(names.filter((name) => !told.includes(name))).toEqual([]);
  expect(told.split('pods are refused there').length - 1).toBe(3);
  expect(told.length).toBeLessThan(3000);
});

test('a cluster that refuses pods without a word leaves none in brackets', () => {
  const status = { conditions: [{ type: 'ReplicaFailure', status: 'True', message: '' }] };
  const shares: Record<string, Share> = { west: { phase: 'Joining' } };
  const slices = { west: { present: true, status } };
  const placement = object('Deployment', ['west']);
  const input = { ...atRest, placement, shares, slices, waitingFor: ['west'], gone: false, now: 0 };
  expect(conditionsOf(input)[1]?.message).toBe('waiting for west');
});
