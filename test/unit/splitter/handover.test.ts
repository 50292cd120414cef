import { describe, expect, it, test } from 'vitest';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type HandoverInput, handover } from '../../../splitter/handover.ts';

const deployment = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', generation: 3 },
  spec: { replicas },
});
const active = (replicas: number): Share => ({ phase: 'Active', replicas });
const joining = (replicas: number, more: Partial<Share> = {}): Share => ({
  phase: 'Joining',
  replicas,
  ...more,
});
const healthy = (replicas: number, ready = replicas): ClusterSlice => ({
  present: true,
  observedGeneration: 3,
  share: { replicas },
  status: { replicas, updatedReplicas: ready, availableReplicas: ready },
});
/** With a word of each Active share that is all there, where the case says nothing of it. */
function told(input: HandoverInput): HandoverInput {
  const sound = Object.entries(input.previous).flatMap(([cluster, share]): [string, ClusterSlice][] =>
    share.phase === 'Active' && input.root.kind !== 'Job' ? [[cluster, healthy(share.replicas ?? 0)]] : [],
  );
  return { ...input, slices: { ...Object.fromEntries(sound), ...input.slices } };
}
const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const base: HandoverInput = {
  root: deployment(6),
  gone: false,
  clusters: ['a'],
  previous: {},
  slices: {},
  isKnown: () => true,
  heardAt: () => Number.POSITIVE_INFINITY,
  now: 100_000,
  settleMs: 2000,
};

describe('handover of a Deployment', () => {
  it.each<[string, Partial<HandoverInput>, Record<string, Share>]>([
    ['NONE -> A', {}, { a: joining(6) }],
    [
      'A -> A,B: B grows, A holds',
      { clusters: ['a', 'b'], previous: { a: active(6) } },
      { a: active(6), b: joining(3) },
    ],
    [
      'B is ready but not settled: A still holds',
      { clusters: ['b'], previous: { a: active(6), b: joining(6) }, slices: { b: healthy(6) } },
      { a: active(6), b: joining(6, { readySince: at(100) }) },
    ],
    [
      'B has settled: A leaves',
      {
        clusters: ['b'],
        previous: { a: active(6), b: joining(6, { readySince: at(98) }) },
        slices: { b: healthy(6) },
      },
      { a: { phase: 'Leaving', replicas: 6 }, b: active(6) },
    ],
    [
      'B lost a replica while settling: the time starts anew',
      {
        clusters: ['b'],
        previous: { a: active(6), b: joining(6, { readySince: at(90) }) },
        slices: { b: healthy(6, 5) },
      },
      { a: active(6), b: joining(6) },
    ],
    [
      'what B reports is of another share',
      {
        clusters: ['b'],
        previous: { a: active(6), b: joining(6, { readySince: at(90) }) },
        slices: { b: healthy(7) },
      },
      { a: active(6), b: joining(6) },
    ],
    [
      'what B reports is of an older generation',
      {
        clusters: ['b'],
        previous: { a: active(6), b: joining(6, { readySince: at(90) }) },
        slices: { b: { ...healthy(6), observedGeneration: 2 } },
      },
      { a: active(6), b: joining(6) },
    ],
    [
      'A,B -> B: B grows and joins again with what it had',
      { clusters: ['b'], previous: { a: active(3), b: active(3) } },
      { a: active(3), b: joining(6, { settled: { replicas: 3 } }) },
    ],
    [
      'back to A,B: B is as good as before',
      { clusters: ['a', 'b'], previous: { a: active(3), b: joining(6, { settled: { replicas: 3 } }) } },
      { a: active(3), b: active(3) },
    ],
    [
      'A -> B -> A: the newcomer goes at once, A is untouched',
      { previous: { a: active(6), b: joining(6) } },
      { a: active(6), b: { phase: 'Leaving', replicas: 6 } },
    ],
    ['scaled down: at once', { root: deployment(2), previous: { a: active(6) } }, { a: active(2) }],
    [
      'scaled down on the way: both at once',
      { root: deployment(2), clusters: ['b'], previous: { a: active(6), b: joining(6) } },
      { a: active(2), b: joining(2) },
    ],
    [
      'scaled up: at once',
      { root: deployment(8), previous: { a: active(6) } },
      { a: joining(8, { settled: { replicas: 6 } }) },
    ],
    ['scaled to nothing', { root: deployment(0), previous: { a: active(6) } }, { a: active(0) }],
    ['nowhere fits: it stays', { clusters: [], previous: { a: active(6) } }, { a: active(6) }],
    [
      'nowhere fits, yet it may be scaled',
      { root: deployment(7), clusters: [], previous: { a: active(6) } },
      { a: joining(7, { settled: { replicas: 6 } }) },
    ],
    [
      'deleted: all leave',
      { gone: true, clusters: [], previous: { a: active(3), b: joining(3) } },
      { a: { phase: 'Leaving', replicas: 3 }, b: { phase: 'Leaving', replicas: 3 } },
    ],
    [
      'Leaving until it is said to be absent',
      { gone: true, clusters: [], previous: { a: { phase: 'Leaving' } }, slices: { a: healthy(6) } },
      { a: { phase: 'Leaving' } },
    ],
    [
      'Leaving, unheard of',
      { gone: true, clusters: [], previous: { a: { phase: 'Leaving' } } },
      { a: { phase: 'Leaving' } },
    ],
    [
      'absent: dropped',
      { gone: true, clusters: [], previous: { a: { phase: 'Leaving' } }, slices: { a: { present: false } } },
      {},
    ],
    [
      'leaving a forgotten cluster: dropped',
      { gone: true, clusters: [], previous: { a: { phase: 'Leaving' } }, isKnown: () => false },
      {},
    ],
    [
      'wanted again while Leaving: it goes first, and need not wait for its pods there',
      { clusters: ['a'], previous: { a: { phase: 'Leaving' }, b: active(6) } },
      { a: { phase: 'Leaving', anew: true }, b: active(6) },
    ],
    [
      'wanted elsewhere after all while Leaving: it goes with its pods',
      { clusters: ['b'], previous: { a: { phase: 'Leaving', anew: true }, b: active(6) } },
      { a: { phase: 'Leaving' }, b: active(6) },
    ],
    [
      'wanted again, an old word still stands: not yet',
      { clusters: ['a'], previous: { b: active(6) }, slices: { a: { present: false } } },
      { b: active(6) },
    ],
    [
      'A -> B -> C while B never got ready: B goes at once',
      {
        clusters: ['c'],
        previous: { a: active(6), b: joining(6) },
        slices: { a: healthy(6), b: healthy(6, 4) },
      },
      { a: active(6), b: { phase: 'Leaving', replicas: 6 }, c: joining(6) },
    ],
    [
      'a first place that never got whole is kept: what is not ready yet may be in a moment',
      { clusters: ['b'], previous: { a: joining(6) }, slices: { a: healthy(6, 4) } },
      { a: joining(6), b: joining(6) },
    ],
    [
      'moved before it settled, ready but heard of from before: A holds',
      { clusters: ['b'], previous: { a: joining(6) }, slices: { a: healthy(6, 1) } },
      { a: joining(6), b: joining(6) },
    ],
    [
      'moved before anything was said of it: A holds',
      { clusters: ['b'], previous: { a: joining(6) } },
      { a: joining(6), b: joining(6) },
    ],
    [
      'A never got whole, B has settled: A leaves',
      {
        clusters: ['b'],
        previous: { a: joining(6), b: joining(6, { readySince: at(98) }) },
        slices: { a: healthy(6, 4), b: healthy(6) },
      },
      { a: { phase: 'Leaving', replicas: 6 }, b: active(6) },
    ],
    [
      'spread since not all fit on A: what A is to keep is enough to go on',
      {
        clusters: ['a', 'b'],
        previous: { a: joining(6, { readySince: at(98) }), b: joining(3, { readySince: at(98) }) },
        slices: { a: healthy(6, 4), b: healthy(3) },
      },
      { a: active(3), b: active(3) },
    ],
    [
      'A fell silent before B had settled, then C was chosen: what B may have is held',
      {
        clusters: ['c'],
        previous: { a: active(6), b: joining(6) },
        slices: { a: healthy(6), b: healthy(6, 1) },
        heardAt: (c) => (c === 'a' ? undefined : Number.POSITIVE_INFINITY),
      },
      {
        a: { ...active(6), heardSince: at(100) },
        b: { ...joining(6), heardSince: at(100) },
        c: joining(6),
      },
    ],
    [
      'the same, and the clock was set back since it was asked: it is asked since now',
      {
        clusters: ['c'],
        previous: { a: { ...active(6), heardSince: at(3700) }, b: joining(6, { heardSince: at(3700) }) },
        slices: { a: healthy(6), b: healthy(6, 1) },
        heardAt: (c) => (c === 'a' ? undefined : Number.POSITIVE_INFINITY),
      },
      {
        a: { ...active(6), heardSince: at(100) },
        b: { ...joining(6), heardSince: at(100) },
        c: joining(6),
      },
    ],
    [
      'moved before it settled: what is ready at B but not settled takes nothing from A',
      {
        clusters: ['b'],
        previous: { a: joining(6), b: joining(6) },
        slices: { a: healthy(6, 4), b: healthy(6, 5) },
      },
      { a: joining(6), b: joining(6) },
    ],
    [
      'moved before it settled: B is whole, but not for long enough',
      {
        clusters: ['b'],
        previous: { a: joining(4), b: joining(6) },
        slices: { a: healthy(4, 4), b: healthy(6) },
      },
      { a: joining(4, { readySince: at(100) }), b: joining(6, { readySince: at(100) }) },
    ],
    [
      'moved twice before it settled: A does not go because B was chosen again',
      {
        clusters: ['b', 'c'],
        previous: { a: joining(4), b: joining(6) },
        slices: { a: healthy(4, 3), b: healthy(6) },
      },
      { a: joining(4), b: joining(3), c: joining(3) },
    ],
    [
      'spread before it settled: A does not shrink as each one of B gets ready',
      {
        clusters: ['a', 'b'],
        previous: { a: joining(6), b: joining(3) },
        slices: { a: healthy(6, 5), b: healthy(3, 2) },
      },
      { a: joining(6, { readySince: at(100) }), b: joining(3) },
    ],
    [
      'scaled down before it settled: at once',
      { root: deployment(2), previous: { a: joining(6) }, slices: { a: healthy(6, 5) } },
      { a: joining(2) },
    ],
  ])('%s', (_name, change, expected) => {
    expect(handover(told({ ...base, ...change })).shares).toEqual(expected);
  });

  it('asks to be called again when the settle time is over, and names what it waits for', () => {
    const previous = { a: active(6), b: joining(6, { readySince: at(99) }) };
    const done = handover({ ...base, clusters: ['b'], previous, slices: { b: healthy(6) } });
    expect(done.requeueAfterMs).toBe(1000);
    expect(done.waitingFor).toEqual(['b']);
  });

  it('names slices without a share, so that they are removed', () => {
    expect(
      handover({ ...base, previous: { a: active(6) }, slices: { z: { present: false } } }).stale,
    ).toEqual(['z']);
  });
});

describe('handover of other kinds', () => {
  const of = (kind: string, spec: object = {}, status?: object): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'x' },
    spec,
    ...(status && { status }),
  });
  const on: Share = { phase: 'Active' };
  const off: Share = { phase: 'Active', suspend: true };
  const stopped: ClusterSlice = { present: true, share: { suspend: true }, status: {} };
  const leaving: Share = { phase: 'Leaving' };
  const running = { startTime: '2026-01-01T00:00:00Z', active: 1 };
  const one: Share = { ...on, completions: 1, parallelism: 1 };

  it.each<[string, Partial<HandoverInput>, Record<string, Share>]>([
    [
      'ConfigMap: whole everywhere',
      { root: of('ConfigMap'), clusters: ['a', 'b'] },
      { a: { phase: 'Joining' }, b: { phase: 'Joining' } },
    ],
    [
      'ConfigMap: stays until the new one is there',
      { root: of('ConfigMap'), clusters: ['b'], previous: { a: on } },
      { a: on, b: { phase: 'Joining' } },
    ],
    [
      'ConfigMap: wanted again while Leaving, it joins again',
      { root: of('ConfigMap'), previous: { a: leaving }, slices: { a: { present: true } } },
      { a: on },
    ],
    [
      'ConfigMap: wanted again when it has gone, it joins at once',
      { root: of('ConfigMap'), previous: { a: leaving }, slices: { a: { present: false } } },
      { a: { phase: 'Joining' } },
    ],
    [
      'ConfigMap: wanted elsewhere, it goes on leaving',
      { root: of('ConfigMap'), clusters: ['b'], previous: { a: leaving, b: on } },
      { a: leaving, b: on },
    ],
    [
      'HPA: wanted again while Leaving, with the bounds of now',
      {
        root: of('HorizontalPodAutoscaler', { minReplicas: 2, maxReplicas: 6 }),
        previous: { a: { phase: 'Leaving', replicas: 1, maxReplicas: 1 } },
      },
      { a: { phase: 'Joining', replicas: 2, maxReplicas: 6 } },
    ],
    [
      'PVC: not bound yet',
      {
        root: of('PersistentVolumeClaim'),
        clusters: ['b'],
        previous: { a: on, b: { phase: 'Joining', readySince: at(1) } },
        slices: { b: { present: true, status: { phase: 'Pending' } } },
      },
      { a: on, b: { phase: 'Joining' } },
    ],
    [
      'PVC: bound',
      {
        root: of('PersistentVolumeClaim'),
        clusters: ['b'],
        previous: { a: on, b: { phase: 'Joining', readySince: at(1) } },
        slices: { b: { present: true, status: { phase: 'Bound' } } },
      },
      { a: leaving, b: on },
    ],
    [
      'DaemonSet moved before it settled: it stays until the other is ready',
      {
        root: of('DaemonSet'),
        clusters: ['b'],
        previous: { a: { phase: 'Joining' } },
        slices: { a: { present: true, status: { desiredNumberScheduled: 3, numberReady: 0 } } },
      },
      { a: { phase: 'Joining' }, b: { phase: 'Joining' } },
    ],
    ['Pod: on one of several', { root: of('Pod'), clusters: ['a', 'b'] }, { a: { phase: 'Joining' } }],
    ['Pod that has ended: never again', { root: of('Pod', {}, { phase: 'Succeeded' }), clusters: ['b'] }, {}],
    [
      'CronJob: one runs',
      { root: of('CronJob'), clusters: ['a', 'b'] },
      { a: { phase: 'Joining' }, b: { phase: 'Joining', suspend: true } },
    ],
    [
      'CronJob: the new one waits, suspended',
      { root: of('CronJob'), clusters: ['b'], previous: { a: on } },
      { a: on, b: { phase: 'Joining', suspend: true } },
    ],
    [
      'CronJob: the old one is suspended first',
      { root: of('CronJob'), clusters: ['b'], previous: { a: on, b: off } },
      { a: off, b: { ...off, heardSince: at(100) } },
    ],
    [
      'CronJob: the old one has stopped',
      {
        root: of('CronJob'),
        clusters: ['b'],
        previous: { a: off, b: off },
        slices: { a: stopped, b: stopped },
      },
      { a: { phase: 'Leaving', suspend: true }, b: on },
    ],
    [
      'CronJob: what the old one has started is told to the new one, which would start it again',
      {
        root: of('CronJob', {}, { lastScheduleTime: '1970-01-01T00:00:20Z' }),
        clusters: ['b'],
        previous: { a: off, b: off },
        slices: {
          a: { ...stopped, status: { lastScheduleTime: '1970-01-01T00:01:00Z' } },
          b: { ...stopped, status: { lastScheduleTime: '1970-01-01T00:00:10Z' } },
        },
      },
      { a: { phase: 'Leaving', suspend: true }, b: { ...on, ranAt: '1970-01-01T00:01:00Z' } },
    ],
    [
      'CronJob: a cluster whose clock runs ahead, or that lies, keeps the new one from nothing that is to come',
      {
        root: of('CronJob', {}, { lastScheduleTime: 'never' }),
        clusters: ['b'],
        previous: { a: off, b: off },
        slices: { a: { ...stopped, status: { lastScheduleTime: '2130-01-01T00:00:00Z' } }, b: stopped },
      },
      { a: { phase: 'Leaving', suspend: true }, b: { ...on, ranAt: '1970-01-01T00:01:40Z' } },
    ],
    [
      'CronJob: while it runs what it was told is not told anew',
      {
        root: of('CronJob'),
        clusters: ['a', 'b'],
        previous: { a: off, b: { ...on, ranAt: '1970-01-01T00:01:00Z' } },
        slices: { a: stopped, b: { ...stopped, status: { lastScheduleTime: '1970-01-01T00:01:30Z' } } },
      },
      { a: off, b: { ...on, ranAt: '1970-01-01T00:01:00Z' } },
    ],
    [
      'CronJob: where one at a time may run the new one waits for the old ones Jobs',
      {
        root: of('CronJob', { concurrencyPolicy: 'Forbid' }),
        clusters: ['b'],
        previous: { a: off, b: off },
        slices: { a: { ...stopped, status: { active: [{ name: 'j' }] } }, b: stopped },
      },
      { a: off, b: { ...off, heardSince: at(100) } },
    ],
    [
      'CronJob: its Jobs still run',
      {
        root: of('CronJob'),
        clusters: ['b'],
        previous: { a: off, b: on },
        slices: { a: { ...stopped, status: { active: [{ name: 'j' }] } } },
      },
      { a: off, b: { ...on, heardSince: at(100) } },
    ],
    [
      'Job: by completions and parallelism',
      { root: of('Job', { completions: 5, parallelism: 3 }), clusters: ['a', 'b'] },
      {
        a: { phase: 'Joining', completions: 3, parallelism: 2 },
        b: { phase: 'Joining', completions: 2, parallelism: 1 },
      },
    ],
    [
      'Job: no part without a pod',
      { root: of('Job', { completions: 5, parallelism: 1 }), clusters: ['a', 'b'] },
      { a: { phase: 'Joining' } },
    ],
    [
      'Job: an indexed one stays whole',
      {
        root: of('Job', { completions: 4, parallelism: 4, completionMode: 'Indexed' }),
        clusters: ['a', 'b'],
      },
      { a: { phase: 'Joining' } },
    ],
    [
      'Job: what has started does not move',
      { root: of('Job', {}, running), clusters: ['b'], previous: { a: on } },
      { a: on },
    ],
    [
      'Job: started, by the word of its cluster',
      {
        root: of('Job'),
        clusters: ['b'],
        previous: { a: on },
        slices: { a: { present: true, status: running } },
      },
      { a: on },
    ],
    [
      'Job: of which one part has failed the others stop, but for those that have ended',
      {
        root: of('Job', { completions: 3, parallelism: 3 }, running),
        clusters: ['a', 'b', 'c'],
        previous: { a: one, b: one, c: one },
        slices: {
          a: { present: true, status: { conditions: [{ type: 'Failed', status: 'True' }] } },
          b: { present: true, status: running },
          c: { present: true, status: { conditions: [{ type: 'Complete', status: 'True' }] } },
        },
      },
      { a: one, b: { ...one, suspend: true }, c: one },
    ],
    ['Job: not begun goes first', { root: of('Job'), clusters: ['b'], previous: { a: on } }, { a: leaving }],
    [
      'Job: then it joins',
      { root: of('Job'), clusters: ['b'], previous: { a: leaving }, slices: { a: { present: false } } },
      { b: { phase: 'Joining' } },
    ],
    [
      'Job: finished leaves and joins nowhere',
      {
        root: of('Job', {}, { ...running, conditions: [{ type: 'Complete', status: 'True' }] }),
        clusters: ['b'],
        previous: { a: on },
      },
      { a: leaving },
    ],
    [
      'Job: finished leaves what is removed, though there is no other',
      {
        root: of('Job', {}, { ...running, conditions: [{ type: 'Complete', status: 'True' }] }),
        clusters: [],
        previous: { a: on },
        keepsEnded: () => false,
      },
      { a: leaving },
    ],
    [
      'Job: finished stays with its logs while nobody says where else',
      {
        root: of('Job', {}, { ...running, conditions: [{ type: 'Complete', status: 'True' }] }),
        clusters: [],
        previous: { a: on },
        keepsEnded: () => true,
      },
      { a: on },
    ],
    [
      'Job: finished stays with its logs, whoever wants it elsewhere',
      {
        root: of('Job', {}, { ...running, conditions: [{ type: 'Complete', status: 'True' }] }),
        clusters: ['b'],
        previous: { a: on },
        keepsEnded: (cluster: string) => cluster === 'a',
      },
      { a: on },
    ],
  ])('%s', (_name, change, expected) => {
    expect(handover(told({ ...base, ...change })).shares).toEqual(expected);
  });
});

it.each<[string, object, Record<string, Share>, object]>([
  ['has started', { status: { active: 1 } }, { a: { phase: 'Active' } }, { waitingFor: [], begun: true }],
  [
    'has ended',
    { status: { conditions: [{ type: 'Complete', status: 'True' }] } },
    {},
    { waitingFor: [], begun: true },
  ],
  ['has not begun', {}, {}, { waitingFor: ['b'], begun: false }],
])('nobody waits for where a Job is to be that %s', (_what, more, previous, expected) => {
  const root = { ...deployment(1), apiVersion: 'batch/v1', kind: 'Job', ...more };
  expect(handover({ ...base, root, clusters: ['b'], previous, slices: {} })).toMatchObject(expected);
});

test.each<[string, Partial<HandoverInput>, Record<string, Share>]>([
  ['all of it, where it was complete', {}, { b: { phase: 'Active', completions: 3, came: 2 } }],
  [
    'what its cluster had told of, where it was not',
    { slices: { a: { present: true, status: { succeeded: 1 } }, b: { present: true } } },
    { b: { phase: 'Active', completions: 3, came: 1 } },
  ],
  [
    'no more than it was to bring',
    { slices: { a: { present: true, status: { succeeded: 9 } } } },
    { b: { phase: 'Active', completions: 3, came: 2 } },
  ],
  [
    'and what it remembered of others',
    {
      previous: {
        a: { phase: 'Active', completions: 2, came: 4 },
        b: { phase: 'Active', completions: 3, came: 1 },
      },
    },
    { b: { phase: 'Active', completions: 3, came: 7 } },
  ],
  ['nothing, where nothing was told', { slices: {} }, { b: { phase: 'Active', completions: 3 } }],
])('of a part of a Job whose cluster is given up counts %s', (_what, change, expected) => {
  const status = { startTime: at(0), active: 1 };
  const root = { ...deployment(1), kind: 'Job', spec: { completions: 5, parallelism: 2 }, status };
  const input: HandoverInput = {
    ...base,
    root,
    clusters: ['a', 'b'],
    previous: {
      a: { phase: 'Active', completions: 2 },
      b: { phase: 'Active', completions: 3 },
    },
    slices: { a: { present: true, status: { succeeded: 2 } } },
    isKnown: (cluster) => cluster !== 'a',
  };
  const given = { ...input, clusters: ['b'], ...change };
  const once = handover(given).shares;
  expect(once).toEqual(expected);
  expect(handover({ ...given, previous: once }).shares, 'and is remembered').toEqual(expected);
});

describe('handover of a Deployment that may not run twice', () => {
  const root: KubeObject = { ...deployment(2), spec: { replicas: 2, strategy: { type: 'Recreate' } } };
  const there: Partial<HandoverInput> = {
    root,
    clusters: ['b'],
    previous: { a: active(2), b: active(0) },
    slices: { a: healthy(2), b: healthy(0) },
  };
  const stays = { a: active(2), b: { ...active(0), heardSince: at(100) } };
  it.each<[string, Partial<HandoverInput>, Record<string, Share>, string[]]>([
    ['it leaves A before it starts on B', {}, { a: { ...active(2), phase: 'Leaving' }, b: active(0) }, []],
    [
      'wanted on A again while it leaves that, it waits there for its former pods',
      {
        clusters: ['a'],
        previous: { a: { ...active(2), phase: 'Leaving' }, b: active(2) },
        slices: { b: healthy(2) },
      },
      { a: { ...active(2), phase: 'Leaving' }, b: active(2) },
      [],
    ],
    ['not while the pods of A cannot be read', { isBlind: (cluster) => cluster === 'a' }, stays, ['a']],
    [
      'those of B are of no account',
      { isBlind: (cluster) => cluster === 'b' },
      { a: { ...active(2), phase: 'Leaving' }, b: active(0) },
      [],
    ],
    [
      'not while A is silent',
      { heardAt: (cluster) => (cluster === 'a' ? undefined : Number.POSITIVE_INFINITY) },
      stays,
      [],
    ],
    [
      'scaled down, it stops all the same',
      { root: { ...root, spec: { ...(root.spec as object), replicas: 1 } }, isBlind: () => true },
      {
        a: { ...active(1), held: { replicas: 2, since: at(100) } },
        b: stays.b,
      },
      ['a'],
    ],
  ])('%s', (_name, change, expected, blind) => {
    const done = handover({ ...base, ...there, ...change });
    expect(done.shares).toEqual(expected);
    expect(done.blind).toEqual(blind);
  });
});

describe('handover of a StatefulSet', () => {
  const set = (replicas: number): KubeObject => ({ ...deployment(replicas), kind: 'StatefulSet' });
  const range = (phase: Share['phase'], start: number, end: number, settled?: [number, number]): Share => ({
    phase,
    replicas: end - start,
    ordinalsStart: start,
    ...(settled && { settled: { replicas: settled[1] - settled[0], ordinalsStart: settled[0] } }),
  });
  const numbers = (start: number, end: number) => ({ replicas: end - start, ordinalsStart: start });
  const to = (share: Share, start: number, end: number): Share => ({ ...share, goal: numbers(start, end) });
  const holding = (share: Share, start: number, end: number): Share => ({
    ...share,
    held: { ...numbers(start, end), since: at(100) },
  });
  /** All there; `left`: of what it holds its cluster says which ordinals are still there. */
  const whole = (start: number, end: number, left?: [number, number]): ClusterSlice => ({
    present: true,
    observedGeneration: 3,
    share: numbers(start, end),
    status: { replicas: end - start, availableReplicas: end - start },
    ...(left && {
      pods: { since: at(100), count: left[1] - left[0], ordinals: { start: left[0], end: left[1] } },
    }),
  });
  it.each<[string, Partial<HandoverInput>, Record<string, Share>]>([
    [
      'A -> A,B: B is there first, with nothing to run',
      { clusters: ['a', 'b'], previous: { a: range('Active', 0, 5) }, slices: { a: whole(0, 5) } },
      { a: to(range('Active', 0, 5), 0, 3), b: to(range('Joining', 5, 5), 3, 5) },
    ],
    [
      'then A stops the highest, and holds it',
      {
        clusters: ['a', 'b'],
        previous: { a: to(range('Active', 0, 5), 0, 3), b: to(range('Active', 5, 5), 3, 5) },
        slices: { a: whole(0, 5), b: whole(5, 5) },
      },
      {
        a: holding(to(range('Active', 0, 4), 0, 3), 0, 5),
        b: to({ ...range('Active', 5, 5), heardSince: at(100) }, 3, 5),
      },
    ],
    [
      'it is still ending: nobody starts it',
      {
        clusters: ['a', 'b'],
        previous: { a: holding(to(range('Active', 0, 4), 0, 3), 0, 5), b: to(range('Active', 5, 5), 3, 5) },
        slices: { a: whole(0, 4, [0, 5]), b: whole(5, 5) },
      },
      {
        a: holding(to(range('Active', 0, 4), 0, 3), 0, 5),
        b: to({ ...range('Active', 5, 5), heardSince: at(100) }, 3, 5),
      },
    ],
    [
      'it is gone: B starts it',
      {
        clusters: ['a', 'b'],
        previous: { a: holding(to(range('Active', 0, 4), 0, 3), 0, 5), b: to(range('Active', 5, 5), 3, 5) },
        slices: { a: whole(0, 4, [0, 4]), b: whole(5, 5) },
      },
      { a: to(range('Active', 0, 4), 0, 3), b: to(range('Joining', 4, 5), 3, 5) },
    ],
    [
      'A is silent: what it holds is started nowhere',
      {
        clusters: ['b'],
        previous: { a: range('Active', 0, 5), b: to(range('Active', 5, 5), 0, 5) },
        slices: { a: whole(0, 5), b: whole(5, 5) },
        heardAt: (cluster) => (cluster === 'a' ? undefined : Number.POSITIVE_INFINITY),
      },
      { a: range('Active', 0, 5), b: to({ ...range('Active', 5, 5), heardSince: at(100) }, 0, 5) },
    ],
    [
      'the pods of A cannot be read: nothing stops of which nobody would learn that it has',
      {
        clusters: ['a', 'b'],
        previous: { a: to(range('Active', 0, 5), 0, 3), b: to(range('Active', 5, 5), 3, 5) },
        slices: { a: whole(0, 5), b: whole(5, 5) },
        isBlind: (cluster) => cluster === 'a',
      },
      { a: to(range('Active', 0, 5), 0, 3), b: to({ ...range('Active', 5, 5), heardSince: at(100) }, 3, 5) },
    ],
    [
      'and it keeps its last one',
      {
        clusters: ['b'],
        previous: { a: range('Active', 0, 1), b: to(range('Active', 1, 5), 0, 5) },
        slices: { a: whole(0, 1), b: whole(1, 5) },
        isBlind: (cluster) => cluster === 'a',
      },
      { a: range('Active', 0, 1), b: to({ ...range('Active', 1, 5), heardSince: at(100) }, 0, 5) },
    ],
    [
      'scaled down, it stops all the same',
      {
        root: set(2),
        previous: { a: range('Active', 0, 5) },
        slices: { a: whole(0, 5) },
        isBlind: () => true,
      },
      { a: holding(range('Active', 0, 2), 0, 5) },
    ],
    [
      'the last one leaves with its share',
      {
        clusters: ['b'],
        previous: { a: range('Active', 0, 1), b: to(range('Active', 1, 5), 0, 5) },
        slices: { a: whole(0, 1), b: whole(1, 5) },
      },
      { a: range('Leaving', 0, 1), b: to(range('Active', 1, 5), 0, 5) },
    ],
    [
      'scaled down: at once',
      {
        root: set(2),
        clusters: ['a', 'b'],
        previous: { a: range('Active', 0, 3), b: range('Active', 3, 5) },
        slices: { a: whole(0, 3), b: whole(3, 5) },
      },
      { a: holding(range('Active', 0, 2), 0, 3), b: holding(range('Active', 3, 3), 3, 5) },
    ],
  ])('%s', (_name, change, expected) => {
    expect(handover({ ...base, root: set(5), ...change }).shares).toEqual(expected);
  });
});
