import { describe, expect, test } from 'vitest';
import type { PlacedObject } from '../../../cluster/closure.ts';
import type { Placement, Share } from '../../../cluster/types.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { restMs } from '../../../scheduler/kept.ts';
import { policyOf } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, type Fields, namespace, World } from './world.ts';

const ten = { capacity: { cpu: '10' } };
const cpu = (n: number) => ({
  podSpec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: String(n) } } }] },
});
const web = (fields: object = {}) => deployment('web', { ...cpu(2), ...fields });
const taken = (amounts: Record<string, number>) =>
  new Map(Object.entries(amounts).map(([c, n]) => [c, new Map([['cpu', parseQuantity(n)]])]));

/** What runs on a, which rebalances, before there is any other; others take 4 of 10 there. */
function running(objects: readonly PlacedObject[], a: Fields = {}): World {
  const world = new World(...objects);
  world.clusters = [cluster('a', ten)];
  world.usage = taken({ a: 4 });
  world.decide();
  for (const { object } of objects) world.share(object.metadata.name ?? '', { a: active });
  world.leaving = new Map();
  world.clusters = [cluster('a', { ...ten, rebalance: true, ...a }), cluster('b', ten)];
  return world;
}
const active: Share = { phase: 'Active', replicas: 1 };
const where = (world: World) =>
  Object.fromEntries(world.placements.map(({ spec }) => [spec?.ref.name, spec?.clusters.join()]));
const keptIn = ({ last }: World) =>
  Object.fromEntries(
    [...(last?.kept ?? [])].map(([{ spec }, all]) => [
      spec?.ref.name,
      all.map(({ from, why }) => (from === 'a' ? why : from)).join(),
    ]),
  );
const policy = (clusters: object) =>
  policyOf({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { clusters },
  } as never);

describe('a rebalance', () => {
  test.each([
    ['nothing to where no node is one for it', ['disk=hdd'], 'a'],
    ['to where one is', ['disk=ssd'], 'b'],
  ])('moves %s', (_, nodeLabels, clusters) => {
    const { podSpec } = cpu(2);
    const world = running([web({ podSpec: { ...podSpec, nodeSelector: { disk: 'ssd' } } })]);
    world.clusters = world.clusters.map(({ status, ...rest }) => ({
      ...rest,
      status: { ...status, ...(rest.metadata.name === 'b' && { nodeLabels }) },
    }));
    expect(where(world.decide())).toEqual({ web: clusters });
  });

  test('moves what is free to where there is clearly more room, and says so', () => {
    const world = running([web()]).decide();
    const spec = world.spec('web');
    expect(spec).toMatchObject({
      clusters: ['b'],
      reasons: { b: 'moved by the rebalance of a: b has 80 % free, a 40 %' },
      rebalancedAt: '1970-01-01T00:00:00Z',
    });
    expect(world.last?.leaving.get('a')).toBe(1);
    world.share('web', { b: active });
    expect(world.decide().spec('web')?.reasons).toEqual(spec?.reasons);
  });

  test.each<[string, Fields | undefined, number, string]>([
    ['not from where nobody asks for it', { rebalance: false }, 0, 'a'],
    ['not from what is silent', { ready: false }, 0, 'a'],
    ['not for less than ten points', {}, 3.5, 'a'],
    ['for ten', {}, 3, 'b'],
  ])('%s', (_what, a, others, expected) => {
    const world = running([web()], a);
    world.usage = taken({ a: 4, b: others });
    expect(world.decide().spec('web')?.clusters).toEqual([expected]);
  });

  test.each<[string, Fields]>([
    ['cordoned', { unschedulable: true }],
    ['drained', { drain: true }],
    ['not ready', { ready: false }],
    ['tainted', { taints: [{ key: 'k', effect: 'NoSchedule' }] }],
    ['shunned', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }],
    ['too small for both', { capacity: { cpu: '3' } }],
  ])('not to what is %s', (_what, fields) => {
    const world = running([web(), deployment('api', cpu(2))]);
    world.clusters = [...world.clusters.slice(0, 1), cluster('b', { ...ten, ...fields })];
    expect(where(world.decide())).toEqual({ web: 'a', api: 'a' });
  });

  const claim = placed('PersistentVolumeClaim', 'data', { spec: {} });
  const mounts = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
  test.each<[string, PlacedObject[]]>([
    ['named', [deployment('x', { metadata: annotations('a', 'ann') })]],
    ['a set', [placed('StatefulSet', 'x', { spec: { replicas: 1, template: {} } })]],
    ['one that may not run twice', [deployment('x', { spec: { strategy: { type: 'Recreate' } } })]],
    ['a Job that runs', [placed('Job', 'x', { spec: {} })]],
    ['a CronJob', [placed('CronJob', 'x', { spec: {} })]],
    ['a pod that runs to its end', [placed('Pod', 'x', { spec: { restartPolicy: 'Never' } })]],
    ['paused', [deployment('x', { metadata: { annotations: { 'atoll.dev/paused': 'true' } } })]],
    ['spread', [deployment('x', { metadata: { annotations: { 'atoll.dev/spread': 'cluster' } } })]],
  ])('all stays where one is that need not leave: %s', (_what, others) => {
    const world = running([web(), ...others]).decide();
    expect(world.spec('web')?.clusters).toEqual(['a']);
    expect(world.last?.blocked).toBe(false);
    expect(world.last?.waiting).toEqual([]);
    expect(world.last?.kept.size).toBe(0);
  });

  const set = placed('StatefulSet', 'x', { spec: { replicas: 1, template: {} } });
  const named = deployment('y', { metadata: annotations('a', 'ann') });
  test.each<[string, PlacedObject[], Fields, Record<string, string>]>([
    [
      'what keeps it, where there is more room',
      [set],
      {},
      { x: 'b has 80 % free, a 40 %, but it stops before it starts elsewhere' },
    ],
    ['nothing where there is not', [set], { capacity: { cpu: '2' } }, {}],
    ['nothing of what somebody has placed', [set, named], {}, {}],
  ])('of what stays is told, if asked: %s', (_what, others, b, expected) => {
    const world = running([web(), ...others]);
    world.explains = true;
    world.clusters = [...world.clusters.slice(0, 1), cluster('b', { ...ten, ...b })];
    expect(keptIn(world.decide())).toEqual(expected);
  });

  test('so is what is nowhere: the rest waits to know where that will be', () => {
    const world = running([web()]);
    const all = world.clusters;
    world.clusters = all.slice(0, 1);
    world.objects = [...world.objects, deployment('big', cpu(100))];
    expect(where(world.decide())).toEqual({ web: 'a', big: '' });
    world.clusters = all;
    world.explains = true;
    expect(where(world.decide())).toEqual({ web: 'a', big: '' });
    expect(keptIn(world)).toEqual({ big: 'b has 80 % free, a 40 %, but it is nowhere yet' });
  });

  test.each<[string, object]>([
    ['hold', {}],
    ['are to be made anew', { metadata: { annotations: { 'atoll.dev/volumes': 'recreate' } } }],
  ])('data stays where its claims %s', (_what, fields) => {
    const world = running([deployment('db', { podSpec: mounts, ...fields }), claim, web()]);
    const bound = { clusters: { a: { present: true, status: { phase: 'Bound' } } } };
    world.placements = world.placements.map((p) =>
      p.spec?.ref.name === 'data' ? { ...p, status: bound } : p,
    );
    expect(where(world.decide())).toEqual({ db: 'a', data: 'a', web: 'a' });
    world.placements = world.placements.map(({ status: _gone, ...p }) => p as Placement);
    expect(where(world.decide())).toEqual({ db: 'b', data: 'a,b', web: 'b' });
  });

  test('a Namespace moves whole, with what goes along, and with what has ended left behind', () => {
    const job = placed('Job', 'done', {
      spec: {},
      status: { conditions: [{ type: 'Complete', status: 'True' }] },
    });
    const map = placed('ConfigMap', 'conf');
    const reads = { containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: 'conf' } }] }] };
    const world = running([web(), deployment('api', { podSpec: reads }), map, job]);
    expect(where(world.decide())).toEqual({ web: 'b', api: 'b', conf: 'a,b', done: 'a' });
    expect(world.last?.leaving.get('a')).toBe(2);
  });

  test('nothing moves while some of it is on its way, or has no place yet', () => {
    const world = running([web(), deployment('api')]);
    world.share('api', { a: active, b: { phase: 'Leaving' } });
    expect(where(world.decide())).toEqual({ web: 'a', api: 'a' });
    world.share('api', { a: active });
    expect(where(world.decide())).toEqual({ web: 'b', api: 'b' });
  });

  test('nothing moves while some of it is being deleted', () => {
    const world = running([web(), deployment('api')]);
    world.objects = world.objects.map(({ kind, object }, i) => {
      const metadata = { ...object.metadata, deletionTimestamp: '1970-01-01T00:00:00Z', finalizers: ['f'] };
      return { kind, object: i === 0 ? object : { ...object, metadata } };
    });
    expect(where(world.decide())).toEqual({ web: 'a', api: 'a' });
  });

  test.each<[string, (world: World) => void]>([
    [
      'is being deleted',
      (world) => Object.assign(world.namespace?.metadata ?? {}, { deletionTimestamp: 'now' }),
    ],
    [
      'has something that is not seen',
      (world) => {
        world.unknown = new Set(['x']);
      },
    ],
  ])('nothing moves of a Namespace that %s', (_what, change) => {
    const world = running([web()]);
    world.namespace = structuredClone(namespace());
    change(world);
    expect(where(world.decide())).toEqual({ web: 'a' });
  });

  test('its Namespace paused, nothing moves', () => {
    const world = running([web()]);
    const home = namespace();
    world.namespace = {
      ...home,
      metadata: { ...home.metadata, annotations: { 'atoll.dev/paused': 'true' } },
    };
    expect(where(world.decide())).toEqual({ web: 'a' });
  });

  test.each<[string, object, string]>([
    ['excludes', { exclude: ['b'] }, 'c'],
    ['narrows to', { exclude: ['c'] }, 'b'],
    ['leaves one of', { names: ['a', 'c'], count: 1 }, 'c'],
    ['asks for all of', { names: ['a'] }, 'a'],
    ['asks for two of', { names: ['a', 'b', 'c'], count: 2 }, 'a,b'],
    ['prefers where it is', { groups: [['a'], ['b', 'c']], count: 1 }, 'a'],
    ['has apart', { antiAffinity: [{ selector: { matchLabels: {} }, topologyKey: 'cluster' }] }, 'a'],
  ])('within what a policy says: that %s', (_what, clusters, expected) => {
    const world = running([web()]);
    world.policies = [[policy(clusters)]];
    world.clusters.push(cluster('c', { capacity: { cpu: '9' } }));
    expect(where(world.decide())).toEqual({ web: expected });
    if (expected === 'c') expect(world.spec('web')?.reasons?.['c']).toMatch(/^moved by the rebalance of a: /);
  });

  test('to where there is the most room', () => {
    const world = running([web()]);
    world.clusters.push(cluster('c', { capacity: { cpu: '11' } }));
    expect(where(world.decide())).toEqual({ web: 'c' });
  });

  test.each<[string, Fields, number, string]>([
    ['one at a time', {}, 0, 'b'],
    ['not while another one leaves', {}, 1, 'a'],
    ['two, where two may', { drainConcurrent: 2 }, 1, 'b'],
  ])('in turns: %s', (_what, a, others, expected) => {
    const world = running([web()], a);
    world.leaving = new Map([['a', others]]);
    world.decide();
    expect(where(world)).toEqual({ web: expected });
    if (expected === 'b') return;
    expect(world.spec('web')).toMatchObject({
      waits: ['a'],
      reasons: { a: 'it is being rebalanced, and at most 1 at a time leave it: it stays until its turn' },
    });
    expect(world.last?.waiting).toEqual(['a']);
    world.clusters = [cluster('a', ten), cluster('b', ten)];
    world.decide();
    expect(world.spec('web')).toMatchObject({ clusters: ['a'], reasons: { a: 'it is there already' } });
    expect(world.spec('web')?.waits).toBeUndefined();
  });

  test('what is on its way counts where it will be', () => {
    const world = running([web()]);
    world.usage = taken({ a: 6, b: 0 });
    world.settled = taken({ a: 4, b: 3.5 });
    expect(where(world.decide())).toEqual({ web: 'a' });
    expect(world.last?.settled.get('b')).toBeUndefined();
    world.settled = taken({ a: 4, b: 3 });
    expect(where(world.decide())).toEqual({ web: 'b' });
    expect([...(world.last?.settled ?? [])].map(([name]) => name)).toEqual(['b']);
  });

  test('what has moved rests', () => {
    const world = running([web()]).decide();
    world.share('web', { b: active });
    world.clusters = [cluster('a', ten), cluster('b', { ...ten, rebalance: true })];
    world.usage = taken({ b: 5 });
    world.now = restMs - 1;
    expect(where(world.decide())).toEqual({ web: 'b' });
    expect(world.last?.turnUntil).toBe(restMs);
    world.now = restMs;
    expect(where(world.decide())).toEqual({ web: 'a' });
    expect(world.spec('web')?.rebalancedAt).toBe('1970-01-01T01:00:00Z');
  });

  test('what somebody else moves then has not been moved by it', () => {
    const world = running([web()]).decide();
    world.share('web', { b: active });
    world.clusters = [cluster('a', ten), cluster('b', { ...ten, unschedulable: true, drain: true })];
    expect(where(world.decide())).toEqual({ web: 'a' });
    expect(world.spec('web')?.rebalancedAt).toBeUndefined();
  });
});
