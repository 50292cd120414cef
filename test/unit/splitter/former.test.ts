import { expect, test } from 'vitest';
import type { PlacedObject } from '../../../cluster/closure.ts';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import { type SplitInput, split } from '../../../splitter/split.ts';
import { deployment, placed } from '../cluster/objects.ts';

const former = (numbers: Partial<Share>) => ({ ...numbers, phase: 'Leaving', former: true }) as const;

/** Made anew and to be on a, while b, which does not answer, has the former one. */
function decided(
  { kind: { group, version, resource, kind }, object }: PlacedObject,
  shares: Record<string, Share>,
  clusters: Record<string, ClusterSlice>,
  more: Partial<SplitInput> = {},
) {
  const { name = '', uid = '' } = object.metadata;
  const placement: Placement = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'p' },
    spec: { ref: { group, version, resource, kind, name, uid }, clusters: ['a'], shares },
    status: { clusters },
  };
  const heardAt = (c: string) => (c === 'a' ? 0 : undefined);
  return split({ placement, root: object, isKnown: () => true, heardAt, now: 0, settleMs: 2000, ...more });
}

const spec = { replicas: 2, strategy: { type: 'Recreate' } };
const job = (type: string) => ({
  succeeded: 1,
  startTime: '2026-01-01T00:00:00Z',
  conditions: [{ type, status: 'True' }],
});

test.each<[string, PlacedObject, Share, Record<string, unknown>, Share]>([
  [
    'a Deployment',
    deployment('web', { replicas: 2 }),
    former({ replicas: 2 }),
    { replicas: 2 },
    { phase: 'Joining', replicas: 2 },
  ],
  [
    'one whose pods may not run beside those of before',
    placed('Deployment', 'web', { spec }),
    former({ replicas: 2 }),
    { replicas: 2 },
    { phase: 'Joining', replicas: 2 },
  ],
  [
    'a Job',
    placed('Job', 'once', { spec: { completions: 1 } }),
    former({}),
    job('Failed'),
    { phase: 'Joining' },
  ],
])(
  'what is made anew begins, whatever the former one had and said: %s',
  (_, object, share, status, begun) => {
    const { shares } = decided(object, { b: share }, { b: { present: true, status } });
    expect(shares).toEqual({ a: begun, b: share });
  },
);

test('a CronJob that is made anew runs', () => {
  const b = former({});
  const cron = placed('CronJob', 'often', { spec: {} });
  const waiting = { phase: 'Joining', suspend: true } as const;
  const said = { a: { present: true, share: { suspend: true } }, b: { present: true, status: {} } };
  expect(decided(cron, { a: waiting, b }, said).shares['a']).not.toHaveProperty('suspend');
});

test('what the former one says is told of nobody: that it failed, or is ready', () => {
  const once = placed('Job', 'once', { spec: { completions: 1 } });
  const there = { a: { phase: 'Active' }, b: former({}) } as const;
  const said = {
    a: { present: true, status: job('Complete') },
    b: { present: true, status: job('Failed') },
  };
  expect(decided(once, there, said).rootStatus).toMatchObject(job('Complete'));
  const web = deployment('web', { replicas: 2 });
  const shares = { a: { phase: 'Joining', replicas: 2 }, b: former({ replicas: 2 }) } as const;
  const clusters = {
    a: { present: true, status: { replicas: 2 } },
    b: { present: true, status: { replicas: 2, readyReplicas: 2 } },
  };
  const { rootStatus } = decided(web, shares, clusters);
  expect([rootStatus?.['replicas'], rootStatus?.['readyReplicas']]).toEqual([2, undefined]);
});

test.each<[string, ClusterSlice | undefined, boolean, string[], string[]]>([
  ['while nobody has said anything', undefined, true, ['a', 'b'], []],
  ['while it is there', { present: true }, true, ['a', 'b'], []],
  ['when it is gone', { present: false }, true, ['a'], []],
  ['when its cluster was given up', { present: true }, false, ['a'], []],
])('what is left of the former one is kept %s', (_, slice, isKnown, left, stale) => {
  const shares = { a: { phase: 'Active', replicas: 1 }, b: former({ replicas: 1 }) } as const;
  const done = decided(deployment('web'), shares, slice ? { b: slice } : {}, {
    isKnown: (c) => c === 'a' || isKnown,
  });
  expect(Object.keys(done.shares)).toEqual(left);
  expect(done.stale).toEqual(stale);
});
