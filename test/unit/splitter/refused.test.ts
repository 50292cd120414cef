import { expect, test } from 'vitest';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt } from '../../../kube/untyped.ts';
import { conditionsOf } from '../../../splitter/conditions.ts';
import { nothingCopied } from '../../../splitter/copy-step.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';
import { lateAfter } from '../../../splitter/fold/refused.ts';
import { notHeld } from '../../../splitter/handover.ts';
import { refusalsBy, refusalWords, wordsOf } from '../../../splitter/words.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const shares: Record<string, Share> = { east: { phase: 'Active' } };

/** `runs`: what pods are made of is the former template. */
function root(kind: string, refused: string | undefined, runs: boolean, status?: object): KubeObject {
  const said = JSON.stringify({ refused, ...(runs && { patch: [] }) });
  const annotations = refused === undefined ? {} : { 'atoll.dev/pod-admission': said };
  const metadata = { name: 'web', generation: 4, annotations };
  return { apiVersion: 'apps/v1', kind, metadata, spec: { replicas: 2 }, ...(status && { status }) };
}

const slice = (status: object): Record<string, ClusterSlice> => ({
  east: { present: true, observedGeneration: 4, status: { observedGeneration: 1, ...status } },
});
const progressing = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: 'm' };
const fold = (object: KubeObject, slices: Record<string, ClusterSlice>) =>
  foldStatus(object, shares, slices, undefined, now);

const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'u',
};
const placementOf = (status?: Placement['status']): Placement => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'web.deployments.apps' },
  spec: { ref, clusters: ['east'] },
  ...(status && { status }),
});

/** Of its Placement, whose cluster has said nothing. */
const conditionsFor = (object: KubeObject) =>
  conditionsOf({
    placement: placementOf(),
    shares,
    slices: {},
    waitingFor: [],
    unled: [],
    blind: [],
    refusing: [],
    hold: notHeld,
    once: false,
    begun: false,
    copied: nothingCopied,
    gone: false,
    now,
    root: object,
  });

const since = '2026-01-02T03:04:05Z';
const failure = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message: 'no',
  lastTransitionTime: since,
};

test.each([
  ['ReplicaSet', { observedGeneration: 4, replicas: 0, conditions: [failure] }],
  ['ReplicationController', { observedGeneration: 4, replicas: 0, conditions: [failure] }],
  [
    'StatefulSet',
    { observedGeneration: 4, replicas: 0, availableReplicas: 0, updateRevision: expect.any(String) },
  ],
  [
    'Deployment',
    {
      observedGeneration: 4,
      unavailableReplicas: 2,
      conditions: [
        {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
          lastTransitionTime: since,
          lastUpdateTime: since,
        },
        {
          type: 'Progressing',
          status: 'True',
          reason: 'ReplicaSetUpdated',
          message: 'Deployment "web" is progressing.',
          lastTransitionTime: since,
          lastUpdateTime: since,
        },
        { ...failure, lastUpdateTime: since },
      ],
    },
  ],
])('a %s of which none is made says so, as Kubernetes has it', (kind, status) => {
  expect(fold(root(kind, 'no', false), {})).toEqual(status);
  expect(fold(root(kind, 'no', false, { replicas: 0 }), {})).toMatchObject(status);
});

test.each(['DaemonSet', 'Job', 'CronJob'])('of a %s Events alone do', (kind) => {
  expect(fold(root(kind, 'no', false), {})).toBeUndefined();
});

test.each([
  ['Deployment', 'updatedReplicas'],
  ['StatefulSet', 'updatedReplicas'],
  ['DaemonSet', 'updatedNumberScheduled'],
])('of what runs of a %s none is of the newest template', (kind, counter) => {
  const slices = slice({
    replicas: 2,
    readyReplicas: 2,
    [counter]: 2,
    updateRevision: 'web-a',
    currentRevision: 'web-a',
  });
  expect(fold(root(kind, undefined, false), slices)).toHaveProperty(counter, 2);
  const status = fold(root(kind, 'no', true), slices);
  expect(status).not.toHaveProperty(counter);
  if (kind !== 'DaemonSet') expect(status).toHaveProperty('readyReplicas', 2);
  if (kind === 'StatefulSet') expect(at(status, 'updateRevision')).not.toBe(at(status, 'currentRevision'));
});

test('its update is not over, and it has failed since it first did', () => {
  const conditions = [{ type: 'ReplicaFailure', status: 'True', lastTransitionTime: '2026-01-02T03:00:00Z' }];
  const status = fold(root('Deployment', 'no', true, { conditions }), slice({ conditions: [progressing] }));
  const reasons = listAt(status, 'conditions').map((one) => [at(one, 'type'), at(one, 'reason')]);
  expect(reasons).toEqual([
    ['Progressing', 'ReplicaSetUpdated'],
    ['ReplicaFailure', 'FailedCreate'],
  ]);
  expect(at(listAt(status, 'conditions')[1], 'lastTransitionTime')).toBe('2026-01-02T03:00:00Z');
});

/** With `none` of what it would make. */
const idle = (kind: string, runs: boolean, none: object = { replicas: 0 }): KubeObject => ({
  ...root(kind, 'no', runs),
  spec: none,
});
const typesOf = (status: unknown) => listAt(status, 'conditions').map((one) => at(one, 'type'));

test.each([
  ['Deployment', { observedGeneration: 4, conditions: expect.anything() }],
  ['ReplicaSet', { observedGeneration: 4, replicas: 0 }],
  ['ReplicationController', { observedGeneration: 4, replicas: 0 }],
  ['StatefulSet', { observedGeneration: 4, replicas: 0, availableReplicas: 0 }],
])('a %s that is to have none has not failed, as on Kubernetes', (kind, status) => {
  const folded = fold(idle(kind, false), {});
  expect(folded).toEqual(status);
  if (kind === 'Deployment') {
    const reasons = listAt(folded, 'conditions').map((one) => [at(one, 'status'), at(one, 'reason')]);
    expect(reasons).toEqual([
      ['True', 'MinimumReplicasAvailable'],
      ['True', 'NewReplicaSetAvailable'],
    ]);
  }
  // As soon as it is to have one it says so.
  expect(fold({ ...root(kind, 'no', false), status: folded }, {})).not.toEqual(status);
  // The same of what ran of the former template.
  const revision = { updateRevision: 'web-a', currentRevision: 'web-a' };
  const slices = slice({ replicas: 0, ...(kind === 'StatefulSet' && revision), conditions: [progressing] });
  const former = fold(idle(kind, true), slices);
  expect(typesOf(former)).not.toContain('ReplicaFailure');
  if (kind === 'StatefulSet') expect(former).toMatchObject(revision);
  if (kind === 'Deployment')
    expect(listAt(former, 'conditions')).toContainEqual(expect.objectContaining(progressing));
});

test.each([
  ['Deployment', { replicas: 0 }],
  ['StatefulSet', { replicas: 0 }],
  ['Job', { parallelism: 0 }],
  ['Job', { suspend: true }],
  ['CronJob', { suspend: true }],
])('of a %s that is to have none no Event says that it failed, until it is', (kind, none) => {
  const object = idle(kind, false, none);
  expect(refusalWords(placementOf(), object)).toEqual([]);
  expect(lateAfter(object, fold(object, {}), now)).toBeUndefined();
  const conditions = conditionsFor(object);
  const said = conditions.find(({ type }) => type === 'Settled');
  expect(said).toMatchObject({ status: 'False', reason: 'PodsRefused' });
  expect(said?.message).toContain('no');
  expect(refusalWords(placementOf({ conditions }), root(kind, 'no', false))).toHaveLength(1);
});

test('its Placement says it, and an Event once for each reason', () => {
  const conditions = conditionsFor(root('Deployment', 'no', false));
  expect(conditions.find(({ type }) => type === 'Settled')).toMatchObject({
    status: 'False',
    reason: 'PodsRefused',
  });
  const word = { type: 'Warning', reason: 'FailedCreate', message: 'Error creating: no' };
  expect(refusalWords(placementOf(), root('Deployment', 'no', false))).toEqual([word]);
  expect(refusalWords(placementOf({ conditions }), root('Deployment', 'no', false))).toEqual([]);
  expect(refusalWords(placementOf({ conditions }), root('Deployment', 'other', false))).toHaveLength(1);
  expect(refusalWords(placementOf({ conditions }), root('Deployment', undefined, false))).toEqual([]);
  const [ofSet] = refusalWords(placementOf(), root('StatefulSet', 'no', false));
  expect(ofSet?.message).toBe('Create Pod web-0 in StatefulSet web failed error: no');
  expect(conditionsFor(root('Deployment', undefined, false))[1]?.reason).not.toBe('PodsRefused');
});

test.each([
  ['never made', false],
  ['still of the former template', true],
])('the update of one that is %s has a deadline, and is too late then', (_what, runs) => {
  const slices = runs ? slice({ replicas: 2, conditions: [progressing] }) : {};
  const told = (after: number, status?: object) => {
    const object = root('Deployment', 'no', runs, status);
    object.spec = { replicas: 2, progressDeadlineSeconds: 5 };
    const said = foldStatus(object, shares, slices, undefined, now + after);
    const [progress] = listAt(said, 'conditions').filter((one) => at(one, 'type') === 'Progressing');
    return { said, progress, after: lateAfter(object, said, now + after) };
  };
  const first = told(0);
  expect([at(first.progress, 'status'), first.after]).toEqual(['True', 5000]);
  const before = told(4999, first.said);
  expect([at(before.progress, 'status'), before.after]).toEqual(['True', 1]);
  const late = told(5000, before.said);
  expect(late.progress).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });
  expect(late.after).toBeUndefined();
  expect(at(told(9000, late.said).progress, 'lastTransitionTime')).toBe(
    at(late.progress, 'lastTransitionTime'),
  );
});

test('without a deadline, and while it is paused, nothing is too late', () => {
  for (const more of [{ progressDeadlineSeconds: 2 ** 31 - 1 }, { paused: true }]) {
    const object = root('Deployment', 'no', true);
    object.spec = { replicas: 2, ...more };
    const said = foldStatus(
      object,
      shares,
      slice({ replicas: 2, conditions: [progressing] }),
      undefined,
      now,
    );
    expect(lateAfter(object, said, now)).toBeUndefined();
    expect(listAt(said, 'conditions')[0]).toMatchObject({ type: 'Progressing', reason: 'ReplicaSetUpdated' });
  }
});

test('while it waits for others as well, both are said once', () => {
  const hold = { held: ['Deployment db'], without: [], until: now + 1000 };
  const input = {
    shares,
    slices: {},
    waitingFor: [],
    unled: [],
    blind: [],
    refusing: [],
    hold,
    once: false,
    begun: false,
    copied: nothingCopied,
    gone: false,
    now,
    root: root('Deployment', 'no', true),
  };
  const told = (status?: Placement['status']) => {
    const placement = placementOf(status);
    return [...wordsOf(placement, shares, hold), ...refusalWords(placement, input.root)].map(
      ({ reason }) => reason,
    );
  };
  expect(told()).toEqual(['WaitingForOthers', 'FailedCreate']);
  const conditions = conditionsOf({ ...input, placement: placementOf() });
  expect(conditions.find(({ type }) => type === 'Settled')?.reason).toBe('WaitingForOthers');
  expect(told({ conditions })).toEqual([]);
});

test('of what is being deleted nothing is tried', () => {
  const going = root('Deployment', 'no', false);
  going.metadata.deletionTimestamp = '2026-01-02T03:04:05Z';
  expect(refusalWords(placementOf(), going)).toEqual([]);
});

test('what a cluster does not take is told in an Event, once for each reason, but for what only has to go first', () => {
  const object = root('Deployment', undefined, false);
  const clusters = (reason: string) => ({ east: { present: false, error: { reason, message: 'no' } } });
  const placement = (reason: string, said?: string): Placement => {
    const conditions = [
      {
        type: 'Settled',
        status: 'False' as const,
        reason: 'ApplyFailed',
        message: said ?? '',
        lastTransitionTime: '',
      },
    ];
    return { ...placementOf(), status: { clusters: clusters(reason), ...(said && { conditions }) } };
  };
  const word = { type: 'Warning', reason: 'ApplyFailed', message: 'east: Invalid: no' };
  expect(refusalsBy(placement('Invalid'), object, shares)).toEqual([word]);
  expect(refusalsBy(placement('Invalid', 'east: NotOwned: no'), object, shares)).toEqual([word]);
  expect(refusalsBy(placement('Invalid', 'east: Invalid: no; west: x'), object, shares)).toEqual([]);
  expect(refusalsBy(placement('Terminating'), object, shares)).toEqual([]);
  expect(refusalsBy(placement('Invalid'), object, {})).toEqual([]);
  expect(refusalsBy(placement('Invalid'), root('Deployment', 'no', false), shares)).toEqual([]);
});
