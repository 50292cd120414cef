import { describe, expect, it } from 'vitest';
import { isTombstone } from '../../../cluster/orphans.ts';
import type { ClusterSlice, PhysicalCluster, Placement, PlacementSpec } from '../../../cluster/types.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { decideNamespace } from '../../../scheduler/decide.ts';
import { placementMatters } from '../../../scheduler/matters.ts';
import { begunBeside, mayTakeOver, takenOver } from '../../../scheduler/orphans.ts';
import { deployment } from '../cluster/objects.ts';

const cluster = (name: string): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name },
  spec: { kubeconfigSecretRef: { namespace: 'n', name } },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionTime: '' }],
  },
});
const silence = { type: 'Ready', status: 'False', reason: '', message: '', lastTransitionTime: '' } as const;
const left: ClusterSlice = { present: true, orphans: true };
const leaving = { b: { phase: 'Leaving', replicas: 2 }, c: { phase: 'Leaving', replicas: 1 } } as const;

function placement(
  spec: Partial<PlacementSpec>,
  clusters: Record<string, ClusterSlice> = {},
  uid = 'old',
): Placement {
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: 'web', uid };
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web.deployments.apps', namespace: 'shop', finalizers: ['atoll.dev/shares'] },
    spec: { ref, clusters: [], ...spec },
    status: { clusters },
  };
}

function decide(record: Placement, root?: ObjectMeta, namespace: ObjectMeta = {}, silent: string[] = []) {
  const objects = root ? [deployment('web', { replicas: 3, metadata: root })] : [];
  const shop: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', ...namespace } };
  const clusters = ['a', 'b', 'c'].map((name) => {
    const found = cluster(name);
    return silent.includes(name) ? { ...found, status: { conditions: [silence] } } : found;
  });
  return decideNamespace({
    namespace: shop,
    objects,
    placements: [record],
    clusters,
    usage: new Map(),
    now: 0,
  });
}
const specAfter = (...of: Parameters<typeof decide>) => decide(...of).update[0]?.wanted.spec;
const going = '2026-01-01T00:00:00Z';

describe('what is orphaned', () => {
  it('stays as it is until the garbage collector has noted it', () => {
    const active = placement({ clusters: ['b'], shares: { b: { phase: 'Active', replicas: 3 } } });
    const root = { uid: 'old', deletionTimestamp: going };
    expect(decide(active, { ...root, finalizers: ['orphan'] }).update).toEqual([]);
    expect(specAfter(active, { ...root, finalizers: ['foregroundDeletion'] })).toMatchObject({
      clusters: [],
    });
  });

  it('leaves a record that says so, and that nothing but the end of its Namespace takes away', () => {
    const noted = placement({ clusters: ['b'], shares: leaving, orphaned: 'old' });
    expect(specAfter(noted)).toMatchObject({ clusters: [], shares: leaving, orphaned: 'old' });
    const tombstone = placement({ shares: leaving, orphaned: 'old' });
    expect(decide(tombstone)).toMatchObject({ update: [], remove: [] });
    expect(specAfter(tombstone, undefined, { deletionTimestamp: going })).toMatchObject({ orphaned: '' });
    const empty = placement({ shares: {}, orphaned: 'old' });
    expect(decide(empty).remove).toEqual([empty]);
  });

  it('is taken over by a new object, where its pods are, once every cluster has let go of the old one', () => {
    const spec = { shares: leaving, orphaned: 'old' };
    expect(decide(placement(spec, { b: left }), { uid: 'new' }).update).toEqual([]);
    const taken = specAfter(placement(spec, { b: left, c: left }), { uid: 'new' });
    expect(taken).toMatchObject({
      ref: { uid: 'new' },
      clusters: ['b', 'c'],
      shares: { b: { phase: 'Joining', replicas: 2 }, c: { phase: 'Joining', replicas: 1 } },
      orphaned: 'old',
    });
  });

  it('is no reason to keep what the new object leaves behind when it is deleted itself', () => {
    const record = placement({ clusters: ['b'], shares: leaving, orphaned: 'old' }, {}, 'new');
    expect(isTombstone(record)).toBe(false);
    expect(specAfter(record)).toMatchObject({ ref: { uid: 'new' }, clusters: [], orphaned: 'old' });
  });
});

it.each([
  ['no tombstone', placement({ shares: leaving }, { b: left, c: left }), false],
  ['taken over', placement({ shares: leaving, orphaned: 'older' }, { b: left, c: left }), false],
  ['one is silent', placement({ shares: leaving, orphaned: 'old' }, { c: left }), false],
  [
    'one has it still',
    placement({ shares: leaving, orphaned: 'old' }, { b: { present: true }, c: left }),
    false,
  ],
  ['all have let go', placement({ shares: leaving, orphaned: 'old' }, { b: left, c: left }), true],
])('mayTakeOver, %s', (_, record, expected) => {
  expect(mayTakeOver(record)).toBe(expected);
  const silent = { ...record, status: {} };
  expect(placementMatters(record, silent)).toBe(expected);
});

it('what a Job had completed on clusters that were given up is not of the one that takes its place', () => {
  const { ref } = placement({ clusters: ['b'] }, {}, 'new').spec ?? {};
  if (!ref) throw new Error('no reference');
  const former = { ref, clusters: [], orphaned: 'old' };
  const shares = { b: { phase: 'Leaving', completions: 5, parallelism: 1, came: 3 } } as const;
  expect(takenOver({ ref, clusters: ['b'] }, { ...former, shares }).shares).toEqual({
    b: { phase: 'Joining', completions: 5, parallelism: 1 },
  });
});

describe('what was deleted, and made anew', () => {
  const active = { b: { phase: 'Leaving', replicas: 2 }, c: { phase: 'Active', replicas: 1 } } as const;
  const statefulSet = {
    group: 'apps',
    version: 'v1',
    resource: 'statefulsets',
    kind: 'StatefulSet',
    name: 'web',
  };

  it('starts where it may, though clusters that do not answer have yet to let go of the former one', () => {
    const taken = specAfter(placement({ shares: leaving }), { uid: 'new' }, {}, ['b', 'c']);
    expect(taken).toMatchObject({
      ref: { uid: 'new' },
      clusters: ['a'],
      shares: { b: { ...leaving.b, former: true }, c: { ...leaving.c, former: true } },
    });
  });

  it('goes along where the former one did, and takes its place there', () => {
    const ref = {
      group: '',
      version: 'v1',
      resource: 'configmaps',
      kind: 'ConfigMap',
      name: 'web',
      uid: 'new',
    };
    const shares = { b: { phase: 'Leaving' } } as const;
    expect(begunBeside({ ref, clusters: ['b'] }, { ref, clusters: [], shares }).shares).toEqual(shares);
  });

  it.each<[string, Partial<PlacementSpec>, string[]]>([
    ['one that answers has to let go first', { shares: leaving }, ['b']],
    ['one has yet to be told to', { shares: active }, ['b', 'c']],
    ['it left its pods behind', { shares: leaving, orphaned: 'old' }, ['b', 'c']],
    ['its pods have the same names', { shares: leaving, ref: { ...statefulSet, uid: 'old' } }, ['b', 'c']],
  ])('waits where %s', (_, spec, silent) => {
    const { update } = decide(placement(spec), { uid: 'new' }, {}, silent);
    expect(update.filter(({ wanted }) => wanted.spec?.ref.uid === 'new')).toEqual([]);
  });
});
