import { describe, expect, it } from 'vitest';
import type { PlacedObject } from '../../../cluster/closure.ts';
import { physicalNamespace } from '../../../cluster/placement.ts';
import type { PhysicalCluster, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, type Fields, namespace, World } from './world.ts';

const active: Share = { phase: 'Active', replicas: 1 };
const drain = (world: World, a: Fields) => {
  world.clusters = [cluster('a', a), cluster('b'), cluster('c')];
};
const drainNamed = (world: World) => {
  drain(world, { drain: true });
  world.namespace = namespace('a');
};
const drop = (world: World, moved: KubeObject) => {
  world.share('once', {});
  world.namespace = moved;
};

describe('decideNamespace, the physical namespace', () => {
  const born = (uid: string): KubeObject => ({ ...namespace(), metadata: { ...namespace().metadata, uid } });
  const home = (world: World) => {
    const { namespaceUid, physicalNamespace } = world.spec('web') ?? {};
    return { namespaceUid, physicalNamespace };
  };

  it('is another one for a Namespace that was made again', () => {
    const [first, second] = ['u1', 'u2'].map((uid) => {
      const world = new World(deployment('web'));
      world.namespace = born(uid);
      return home(world.decide());
    });
    expect(first?.namespaceUid).toBe('u1');
    expect(first?.physicalNamespace).not.toBe(second?.physicalNamespace);
  });

  it('is the one of old for a record from before uids counted, and stays so', () => {
    const world = new World(deployment('web')).decide();
    expect(home(world)).toEqual({});
    world.namespace = born('u1');
    expect(home(world.decide())).toEqual({
      namespaceUid: 'u1',
      physicalNamespace: physicalNamespace('root', namespace().metadata.name ?? ''),
    });
  });

  it('is not made up for a Namespace that is not known yet: nothing is placed in it', () => {
    const world = new World(deployment('web'));
    world.namespace = undefined;
    expect(world.decide().placements).toEqual([]);
  });
});

describe('decideNamespace, autoscalers', () => {
  const scaler = (name: string, apiVersion: string): PlacedObject =>
    placed('HorizontalPodAutoscaler', name, {
      spec: { scaleTargetRef: { apiVersion, kind: 'Deployment', name: 'web' } },
    });

  it('of a custom resource are not placed: syncers own its replicas there; nor for their own sake or their Namespace’s', () => {
    const world = new World(
      deployment('web'),
      scaler('own', 'apps/v1'),
      scaler('custom', 'fleet.example.com/v1'),
    );
    world.namespace = namespace('b');
    world.decide();
    expect(world.spec('own')?.clusters).toEqual(['b']);
    expect(world.spec('custom')).toBeUndefined();
    // One that was placed before leaves.
    world.objects = world.objects.map((one) =>
      one.object.metadata.name === 'own' ? scaler('own', 'x.io/v1') : one,
    );
    world.share('own', { b: active });
    world.decide();
    expect(world.spec('own')?.clusters).toEqual([]);
  });
});

describe('decideNamespace, workloads', () => {
  it('picks one cluster, says so on the object, and the rest of the namespace follows', () => {
    const world = new World(deployment('web'), deployment('api')).decide();
    expect(world.spec('web')?.clusters).toEqual(['a']);
    expect(world.note('web')).toBe('a');
    world.clusters = [cluster('0'), ...world.clusters];
    world.objects.push(deployment('later'));
    world.decide();
    expect(world.spec('later')).toMatchObject({
      clusters: ['a'],
      reasons: { a: 'the rest of the namespace is there' },
    });
  });

  it.each<[string, string | undefined, string | undefined, Fields, string[], string | undefined]>([
    ['the object’s annotation', 'b', undefined, {}, ['b'], undefined],
    ['several', 'c,b', undefined, {}, ['b', 'c'], undefined],
    ['the Namespace’s', undefined, 'b,c', {}, ['b', 'c'], undefined],
    ['the object’s before the Namespace’s', 'c', 'b', {}, ['c'], undefined],
    ['a blank one is none', ' , ', undefined, {}, ['a'], undefined],
    ['unknown is left out', 'b,nowhere', undefined, {}, ['b'], 'nowhere'],
    ['not a name at all', '__proto__,b', undefined, {}, ['b'], undefined],
    ['cordoned', 'b,c', undefined, { unschedulable: true }, ['c'], 'b'],
    ['not ready', 'b,c', undefined, { ready: false }, ['c'], 'b'],
    ['draining', 'b,c', undefined, { drain: true }, ['c'], 'b'],
    ['tainted', 'b,c', undefined, { taints: [{ key: 'k', effect: 'NoSchedule' }] }, ['c'], 'b'],
    ['full', 'b,c', undefined, { capacity: { pods: '0' } }, ['c'], 'b'],
    ['none of them', 'b', undefined, { unschedulable: true }, [], 'b'],
  ])('%s', (_name, own, ns, b, expected, refused) => {
    const world = new World(deployment('web', own === undefined ? {} : { metadata: annotations(own) }));
    world.namespace = namespace(ns);
    world.clusters = [cluster('a'), cluster('b', b), cluster('c')];
    world.decide();
    const spec = world.spec('web');
    expect(spec?.clusters).toEqual(expected);
    if (refused !== undefined)
      expect(spec?.reasons?.[refused]).toMatch(/^((it|there|cluster b) (is|has)|needs 1 pod, 0 left)/);
    if (own !== undefined && own.trim() !== ',') expect(world.note('web'), 'the user’s stays').toBe(own);
  });

  it.each<[string, Fields, string[]]>([
    ['cordoned: it stays', { unschedulable: true }, ['a']],
    ['silent: it stays', { ready: false }, ['a']],
    ['tainted NoSchedule: it stays', { taints: [{ key: 'k', effect: 'NoSchedule' }] }, ['a']],
    ['full: it stays', { capacity: { pods: '0' } }, ['a']],
    ['drained: it goes', { unschedulable: true, drain: true }, ['b']],
    ['tainted NoExecute: it goes', { taints: [{ key: 'k', effect: 'NoExecute' }] }, ['b']],
  ])('where it is becomes %s', (_name, a, expected) => {
    const world = new World(deployment('web')).decide();
    world.clusters = [cluster('a', a), cluster('b'), cluster('c')];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual(expected);
    expect(world.note('web')).toBe(expected.join(','));
  });

  it.each<[string, (world: World) => void, string[]]>([
    ['its Namespace moves: it stays', (world) => Object.assign(world, { namespace: namespace('b') }), ['a']],
    ['its cluster is drained: it goes', (world) => drain(world, { drain: true }), ['b']],
    [
      'its cluster is drained, and is the only one named: it needs no other',
      (world) => drainNamed(world),
      ['b'],
    ],
    [
      'its cluster is drained, and nothing else is to come to the others: it goes, as it comes nowhere',
      (world) => {
        world.clusters = [
          cluster('a', { drain: true }),
          cluster('b', { unschedulable: true }),
          cluster('c', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
        ];
      },
      ['b'],
    ],
    [
      'all are drained: it stays',
      (world) => {
        world.clusters = ['a', 'b', 'c'].map((name) => cluster(name, { drain: true }));
      },
      ['a'],
    ],
    [
      'its cluster is removed, and is the only one: it goes',
      (world) => {
        const only = cluster('a');
        world.clusters = [
          { ...only, metadata: { ...only.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
        ];
      },
      [],
    ],
    ['its cluster is cordoned: it stays', (world) => drain(world, { unschedulable: true }), ['a']],
    ['it is gone from there', (world) => drop(world, namespace('b')), ['b']],
  ])('of a Job that has ended, as its pods and their logs are there: %s', (_name, change, expected) => {
    const metadata = annotations('a');
    const ended = { metadata, status: { conditions: [{ type: 'Complete', status: 'True' }] } };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const template = { spec: { containers: [], serviceAccountName: 'runner', volumes } };
    const job = (more: object) => placed('Job', 'once', { spec: { template }, ...more });
    const needed = [placed('ServiceAccount', 'runner', {}), placed('PersistentVolumeClaim', 'data', {})];
    const world = new World(job({ metadata }), ...needed);
    world.decide();
    world.share('once', { a: active });
    world.objects = [job({ ...ended, metadata: {} }), ...world.objects.slice(1)];
    change(world);
    world.decide();
    expect(world.spec('once')?.clusters).toEqual(expected);
    const requires = world.spec('once')?.requires?.map(({ name }) => name);
    expect(requires, 'nothing any more but its data').toEqual(['data']);
    world.objects.push(deployment('web'));
    world.namespace = namespace();
    world.clusters = [...world.clusters].reverse();
    world.decide();
    expect(world.spec('web')?.reasons, 'it is nobody to be beside').not.toMatchObject({
      a: 'the rest of the namespace is there',
    });
  });

  it.each([
    ['an annotation of its own', deployment('web', { metadata: annotations('b') }), namespace()],
    ['its Namespace', deployment('web'), namespace('b')],
    ['what its annotation leaves', deployment('web', { metadata: annotations('!a,!c') }), namespace()],
  ])('does not say of what stays that it is there by %s once that is taken back', (_what, web, home) => {
    const world = new World(web);
    world.namespace = home;
    expect(world.decide().spec('web')?.reasons?.['b']).toContain('annotation');
    world.share('web', { b: active });
    world.objects = [deployment('web')];
    world.namespace = namespace();
    expect(world.decide().spec('web')).toMatchObject({
      clusters: ['b'],
      reasons: { b: 'it is there already' },
    });
  });

  it('nor of what could not go where its annotation said, that nothing else fits', () => {
    const world = new World(deployment('web')).decide();
    world.clusters = [cluster('a'), cluster('b', { drain: true })];
    world.objects = [deployment('web', { metadata: annotations('b') })];
    expect(world.decide().spec('web')?.reasons?.['a']).toContain('nothing else fits');
    world.objects = [deployment('web')];
    expect(world.decide().spec('web')?.reasons).toEqual({ a: 'it is there already' });
  });

  it('says no more on what has ended where it is to be, once it is to leave all that it is on', () => {
    const world = new World(placed('Job', 'once', { spec: { template: { spec: {} } } }));
    const note = () => {
      world.decide();
      return world.objects[0]?.object.metadata.annotations?.['atoll.dev/clusters'];
    };
    expect(note()).toBe('a');
    world.share('once', { a: active });
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    world.objects = world.objects.map(({ kind, object }) => ({ kind, object: { ...object, status } }));
    expect(note(), 'its pods and their logs are there').toBe('a');
    drain(world, { drain: true });
    expect(note(), 'it leaves').toBeUndefined();
    world.share('once', {});
    expect(note(), 'it has left').toBeUndefined();
  });

  it('keeps the old place when a drain finds no other, says why, and moves when there is one', () => {
    const world = new World(deployment('web')).decide();
    world.clusters = [
      cluster('a', { drain: true, unschedulable: true }),
      cluster('b', { unschedulable: true }),
    ];
    world.decide();
    expect(world.last?.blocked).toBe(true);
    expect(world.spec('web')).toMatchObject({ clusters: ['a'], reasons: { b: 'it is cordoned' } });
    expect(world.spec('web')?.reasons?.['a']).toContain('it stays');
    world.clusters = [cluster('a', { drain: true, unschedulable: true }), cluster('b')];
    expect(world.decide().spec('web')?.clusters).toEqual(['b']);
  });

  it('says of where it stays why it does, when nobody asks for it to be there', () => {
    const world = new World(deployment('web', { metadata: annotations('a', 'user') })).decide();
    world.objects = [deployment('web', { metadata: annotations('x,y', 'user') })];
    expect(world.decide().spec('web')).toMatchObject({
      clusters: ['a'],
      reasons: {
        a: 'it is there already, and nothing else fits: it stays',
        x: 'there is no physical cluster of this name',
      },
    });
  });

  describe('on its way to what is to be had no longer', () => {
    const going = (name: string, spec: Fields = {}) => ({
      ...cluster(name, spec),
      metadata: { name, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    const joining = { a: active, b: { ...active, phase: 'Joining' as const } };
    const tainted = (effect: 'NoSchedule' | 'NoExecute'): Fields => ({ taints: [{ key: 'k', effect }] });
    const unheard = { ...active, phase: 'Withdrawing' as const, withdrawing: { from: 'Active' as const } };

    it.each<[string, PhysicalCluster[], Record<string, Share>, string[]]>([
      ['being removed', [cluster('a'), going('b'), cluster('c')], joining, ['a']],
      ['forgotten', [cluster('a'), going('b', { forget: true }), cluster('c')], joining, ['a']],
      ['gone', [cluster('a'), cluster('c')], joining, ['a']],
      ['drained', [cluster('a'), cluster('b', { drain: true })], joining, ['a']],
      [
        'forgotten, what it left drained',
        [cluster('a', { drain: true }), going('b', { forget: true })],
        joining,
        ['a'],
      ],
      [
        'drained as what it left is',
        [cluster('a', { drain: true }), cluster('b', { drain: true })],
        joining,
        ['b'],
      ],
      ['being removed as what it left is', [going('a'), going('b')], joining, ['b']],
      [
        'removed, what it left is leaving',
        [cluster('a'), going('b')],
        { ...joining, a: { ...active, phase: 'Leaving' } },
        ['b'],
      ],
      [
        'drained, what it left is silent',
        [cluster('a'), cluster('b', { drain: true })],
        { a: unheard, b: active },
        ['b'],
      ],
      [
        'drained, where it was is silent',
        [cluster('a', { ready: false }), cluster('b', { drain: true })],
        joining,
        ['b'],
      ],
      [
        'forgotten, where it was is silent',
        [cluster('a', { ready: false }), going('b', { forget: true })],
        joining,
        ['a'],
      ],
      ['cordoned', [cluster('a'), cluster('b', { unschedulable: true })], joining, ['b']],
      ['driven away from by a taint', [cluster('a'), cluster('b', tainted('NoExecute'))], joining, ['a']],
      ['tainted for newcomers', [cluster('a'), cluster('b', tainted('NoSchedule'))], joining, ['b']],
      [
        'driven away from as from what it left',
        [cluster('a', tainted('NoExecute')), cluster('b', tainted('NoExecute'))],
        joining,
        ['b'],
      ],
    ])('%s: it is where it can be', (_how, clusters, shares, expected) => {
      const world = new World(deployment('web', { metadata: annotations('a', 'user') })).decide();
      world.share('web', { a: active });
      world.objects = [deployment('web', { metadata: annotations('b', 'user') })];
      world.decide();
      world.share('web', shares);
      world.clusters = clusters;
      expect(world.decide().spec('web')?.clusters).toEqual(expected);
    });

    it.each<[string, string, KubeObject['metadata'], string[]]>([
      ['a ConfigMap', 'ConfigMap', {}, []],
      ['a Service', 'Service', {}, ['b']],
      ['a ConfigMap that is named elsewhere, too', 'ConfigMap', annotations('a,b', 'user'), ['a']],
    ])('what serves nobody by itself holds up no removal: %s', (_what, kind, metadata, expected) => {
      const world = new World(placed(kind, 'lone', { metadata }));
      world.namespace = namespace('b');
      expect(world.decide().spec('lone')?.clusters).toContain('b');
      world.share('lone', { b: { phase: 'Active' } });
      world.clusters = [cluster('a'), going('b')];
      const spec = world.decide().spec('lone');
      expect(spec?.clusters).toEqual(expected);
      expect(spec?.reasons?.['b']).toMatch(/^it is being removed/);
    });

    it('goes to another one where what it left is silent', () => {
      const world = new World(deployment('web')).decide();
      world.share('web', { a: active });
      world.clusters = [cluster('a', { drain: true }), cluster('b')];
      expect(world.decide().spec('web')?.clusters).toEqual(['b']);
      world.share('web', joining);
      world.clusters = [cluster('a', { ready: false }), cluster('b', { drain: true }), cluster('c')];
      expect(world.decide().spec('web')?.clusters).toEqual(['c']);
    });

    it('goes to another one where what it left is to be left, and stays there rather than nowhere', () => {
      const world = new World(deployment('web')).decide();
      world.share('web', { a: active });
      world.clusters = [cluster('a', { drain: true }), cluster('b')];
      expect(world.decide().spec('web')?.clusters).toEqual(['b']);
      world.share('web', joining);
      world.clusters = [cluster('a', { drain: true }), going('b', { forget: true })];
      expect(world.decide().spec('web')?.clusters).toEqual(['a']);
      world.clusters = [cluster('a', { drain: true }), going('b', { forget: true }), cluster('c')];
      expect(world.decide().spec('web')?.clusters).toEqual(['c']);
    });
  });

  it('takes its own annotation back when the Namespace gains one, and writes it again afterwards', () => {
    const world = new World(deployment('web')).decide();
    world.namespace = namespace('b');
    expect(world.decide().note('web')).toBeUndefined();
    expect(world.spec('web')?.clusters).toEqual(['b']);
    world.namespace = namespace();
    expect(world.decide().note('web')).toBe('b');
  });

  it('counts what is placed already, here and elsewhere', () => {
    const podSpec = { containers: [{ name: 'c', resources: { requests: { cpu: '600m' } } }] };
    const world = new World(deployment('one', { podSpec }), deployment('two', { podSpec }));
    world.clusters = [cluster('a', { capacity: { cpu: '1' } }), cluster('b', { capacity: { cpu: '1' } })];
    world.decide();
    expect([world.spec('one')?.clusters, world.spec('two')?.clusters]).toEqual([['a'], ['b']]);
    const other = new World(deployment('three', { podSpec }));
    other.clusters = world.clusters;
    other.usage = world.last?.usage ?? new Map();
    expect(other.decide().spec('three')).toMatchObject({
      clusters: [],
      reasons: { a: 'needs 600m cpu, 400m left' },
    });
  });
});

describe('decideNamespace, what is never placed', () => {
  it.each(['kube-system', 'kube-anything', 'atoll-system'])(
    'what is in %s, whoever annotates what',
    (name) => {
      const metadata = { namespace: name, ...annotations('a') };
      const world = new World(deployment('web', { metadata }), placed('Secret', 'key', { metadata }));
      world.namespace = { ...namespace('a,b'), metadata: { ...namespace('a,b').metadata, name } };
      expect(world.decide().placements).toEqual([]);
    },
  );

  it('credentials of a physical cluster, though their namespace is placed and a pod names them', () => {
    const metadata = { namespace: 'n' };
    const podSpec = { volumes: ['a', 'other'].map((secretName) => ({ name: 'v', secret: { secretName } })) };
    const secrets = ['a', 'other'].map((name) =>
      placed('Secret', name, { metadata: { ...metadata, ...annotations('b') } }),
    );
    const world = new World(deployment('web', { metadata, podSpec }), ...secrets);
    world.namespace = namespace('a,b');
    world.decide();
    expect(world.placements.map(({ spec }) => spec?.ref.name)).toEqual(['web', 'other']);
    expect(world.spec('web')?.requires?.map(({ name }) => name)).toEqual(['other']);
    const elsewhere = { ...metadata, annotations: { 'kcp.io/cluster': 'root:team' } };
    world.objects.push(placed('Secret', 'b', { metadata: elsewhere }));
    expect(world.decide().spec('b')?.clusters, 'of that name in another logical cluster').toEqual(['a', 'b']);
  });

  it('what was placed before its namespace was the system’s leaves', () => {
    const world = new World(deployment('web')).decide();
    world.share('web', { a: active });
    world.objects = [deployment('web', { metadata: { namespace: 'kube-system' } })];
    expect(world.decide().spec('web')?.clusters).toEqual([]);
  });
});

describe('decideNamespace, what goes along', () => {
  const web = (name = 'web') => deployment(name, { podSpec: { volumes: [{ configMap: { name: 'conf' } }] } });

  it('follows the workloads, and stays where one still has a share', () => {
    const world = new World(web(), placed('ConfigMap', 'conf'), placed('ConfigMap', 'unused')).decide();
    expect(world.spec('conf')?.clusters).toEqual(['a']);
    expect(world.spec('web')?.requires).toEqual([{ group: '', resource: 'configmaps', name: 'conf' }]);
    expect(world.spec('unused')).toBeUndefined();
    world.share('web', { a: active });
    world.clusters = [cluster('a', { drain: true }), cluster('b')];
    expect(world.decide().spec('conf')?.clusters).toEqual(['a', 'b']);
    world.share('web', { b: active });
    expect(world.decide().spec('conf')?.clusters).toEqual(['b']);
  });

  it('stays while pods of a former template may use it', () => {
    const uses = (name: string, generation: number, status: object) => ({
      ...web(),
      object: {
        ...deployment('web', { podSpec: { volumes: [{ configMap: { name } }] } }).object,
        metadata: { ...web().object.metadata, generation },
        status,
      },
    });
    const done = (generation: number) => ({
      observedGeneration: generation,
      replicas: 2,
      updatedReplicas: 2,
    });
    const [one, two] = [placed('ConfigMap', 'one'), placed('ConfigMap', 'two')];
    const world = new World(uses('one', 1, done(1)), one, two).decide();
    world.share('web', { a: active });
    const where = () => ['one', 'two'].map((name) => world.spec(name)?.clusters);
    const step = (...objects: PlacedObject[]) => {
      world.objects = objects;
      return world.decide();
    };
    step(uses('two', 2, done(1)), one, two);
    expect(where(), 'not heard of yet').toEqual([['a'], ['a']]);
    step(uses('two', 2, { observedGeneration: 2, replicas: 3, updatedReplicas: 1 }), one, two);
    expect(where(), 'under way').toEqual([['a'], ['a']]);
    step(uses('one', 3, { observedGeneration: 2, replicas: 3, updatedReplicas: 1 }), one, two);
    expect(where(), 'rolled back').toEqual([['a'], ['a']]);
    step(uses('one', 3, done(3)), one, two);
    expect(
      world.spec('web')?.requires?.map(({ name }) => name),
      'done',
    ).toEqual(['one']);
    expect(where()).toEqual([['a'], undefined]);
    step(uses('two', 4, done(3)), two);
    expect(
      world.spec('web')?.requires?.map(({ name }) => name),
      'deleted by its user',
    ).toEqual(['two']);
  });

  it.each(['helm.sh/release.v1', 'bootstrap.kubernetes.io/token'])(
    'a Secret of type %s is kept for use here: its Namespace means it not, its own annotation and a pod do',
    (type) => {
      const own = placed('Secret', 'own', { type, metadata: annotations('b') });
      const volumes = [{ secret: { secretName: 'used' } }];
      const [kept, used] = ['kept', 'used'].map((name) => placed('Secret', name, { type }));
      const world = new World(
        deployment('web', { podSpec: { volumes } }),
        own,
        kept as PlacedObject,
        used as PlacedObject,
      );
      world.namespace = namespace('a');
      world.decide();
      const where = ['own', 'kept', 'used'].map((name) => world.spec(name)?.clusters);
      expect(where).toEqual([['b'], undefined, ['a']]);
    },
  );

  it('goes everywhere in an annotated Namespace, and where its own annotation says', () => {
    const own = placed('Secret', 'own', { metadata: annotations('c') });
    const world = new World(web(), placed('ConfigMap', 'conf'), placed('ConfigMap', 'unused'), own);
    world.namespace = namespace('a,b');
    world.decide();
    expect(world.spec('unused')?.clusters).toEqual(['a', 'b']);
    expect(world.spec('own')?.clusters).toEqual(['c']);
  });

  it('is released when nobody needs it any more, and its record goes with its last share', () => {
    const world = new World(web(), placed('ConfigMap', 'conf')).decide();
    world.share('conf', { a: { phase: 'Active' } });
    world.objects = [
      deployment('web', { metadata: world.objects[0]?.object.metadata ?? {} }),
      ...world.objects.slice(1),
    ];
    expect(world.decide().spec('conf')).toMatchObject({ clusters: [], shares: { a: {} } });
    world.share('conf', {});
    expect(world.decide().spec('conf')).toBeUndefined();
  });

  it('outlives a workload that is deleted together with it', () => {
    const world = new World(web(), placed('ConfigMap', 'conf')).decide();
    world.share('web', { a: active });
    world.share('conf', { a: { phase: 'Active' } });
    world.objects = [];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual([]);
    expect(world.spec('conf')?.clusters).toEqual(['a']);
    world.share('web', {});
    world.decide();
    expect(world.spec('web')).toBeUndefined();
    expect(world.decide().spec('conf')?.clusters).toEqual([]);
  });

  it('treats an object of a used name as another one: the old shares go first', () => {
    const world = new World(deployment('web')).decide();
    world.share('web', { a: active });
    world.objects = [deployment('web', { metadata: { uid: 'new' } })];
    expect(world.decide().spec('web')).toMatchObject({ clusters: [], ref: { uid: 'Deployment-web' } });
    world.share('web', {});
    expect(world.decide().spec('web')).toMatchObject({ clusters: ['a'], ref: { uid: 'new' } });
  });

  it('makes nothing new in a Namespace that is going away', () => {
    const world = new World(deployment('web'));
    world.namespace = {
      ...namespace(),
      metadata: { name: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(world.decide().placements).toEqual([]);
  });
});

describe('decideNamespace, claims', () => {
  const podSpec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
  const web = (metadata: object = {}) => deployment('web', { podSpec, metadata });
  const draining = (name: string) => cluster(name, { drain: true, unschedulable: true });
  const held = 'its claim data holds data on a, which cannot be moved; annotate the workload with ';

  /** `web` and its claim are there, on `on`; the claim is in that phase on each. */
  function settled(on: string, phase: string, names = on.split(',')): World {
    const world = new World(web(annotations(on)), placed('PersistentVolumeClaim', 'data')).decide();
    world.share('web', Object.fromEntries(names.map((name) => [name, active])));
    world.share('data', Object.fromEntries(names.map((name) => [name, { phase: 'Active' }])));
    bind(world, phase, names);
    return annotate(world, undefined);
  }
  function bind(world: World, phase: string, names: readonly string[]): void {
    const clusters = Object.fromEntries(names.map((name) => [name, { present: true, status: { phase } }]));
    world.placements = world.placements.map((p) =>
      p.spec?.ref.name === 'data' ? { ...p, status: { clusters } } : p,
    );
  }
  function annotate(world: World, on: string | undefined): World {
    const [, claim] = world.objects;
    world.objects = [web(on === undefined ? {} : annotations(on)), ...(claim ? [claim] : [])];
    return world.decide();
  }

  it.each<[string, string, string | undefined, string | undefined, string, string[], boolean]>([
    ['bound: a drain leaves it', 'a', undefined, undefined, 'Bound', ['a'], true],
    ['pending: a drain moves it', 'a', undefined, undefined, 'Pending', ['b'], false],
    ['on both: neither goes', 'a,b', undefined, undefined, 'Bound', ['a', 'b'], true],
    ['the user names it: it stays', 'a,b', 'a,b', undefined, 'Bound', ['a', 'b'], true],
    ['the user names it alone', 'a', 'a', undefined, 'Bound', ['a'], true],
    ['the user leaves it out: it goes', 'a', 'b', undefined, 'Bound', ['b'], false],
    ['the Namespace leaves it out: it goes', 'a', undefined, 'b', 'Bound', ['b'], false],
    ['the Namespace names it', 'a', undefined, 'a,b', 'Bound', ['a', 'b'], true],
  ])('%s', (_name, on, own, ns, phase, expected, stays) => {
    const world = settled(on, phase);
    world.namespace = namespace(ns);
    annotate(world, own);
    world.clusters = [draining('a'), cluster('b'), cluster('c')];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual(expected);
    expect(world.last?.blocked).toBe(stays);
    if (stays)
      expect(world.spec('web')?.reasons?.['a']).toBe(
        `${held}atoll.dev/volumes: recreate to have it move without the data`,
      );
    if (stays) expect(world.spec('data')?.clusters).toContain('a');
  });

  it('bound as its Placement notes it, before its cluster has said so', () => {
    const world = settled('a', 'Pending');
    world.placements = world.placements.map((p) =>
      p.spec?.ref.name === 'data' ? { ...p, status: { ...p.status, bound: ['a', 'gone'] } } : p,
    );
    world.clusters = [draining('a'), cluster('b'), cluster('gone')];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual(['a']);
  });

  const says = (metadata: KubeObject['metadata'], volumes: string | undefined) =>
    volumes === undefined
      ? metadata
      : { ...metadata, annotations: { ...metadata.annotations, 'atoll.dev/volumes': volumes } };

  it.each<[string, Record<string, string | undefined>, string[]]>([
    ['the workload', { web: 'recreate' }, ['b']],
    ['its Namespace', { namespace: 'recreate' }, ['b']],
    ['the workload, more than its Namespace', { namespace: 'recreate', web: 'hold' }, ['a']],
    ['the claim', { data: 'recreate' }, ['b']],
    ['the claim, more than the workload', { web: 'recreate', data: 'hold' }, ['a']],
    ['a word that means nothing', { web: 'copy', namespace: 'keep' }, ['a']],
  ])('who gives data up, in a drain: %s', (_name, words, expected) => {
    const world = settled('a', 'Bound');
    world.objects = world.objects.map(({ kind, object }) => ({
      kind,
      object: { ...object, metadata: says(object.metadata, words[object.metadata.name ?? '']) },
    }));
    const shop = namespace();
    world.namespace = { ...shop, metadata: says(shop.metadata, words['namespace']) };
    world.clusters = [draining('a'), cluster('b')];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual(expected);
    const goes = expected.includes('b');
    expect(world.last?.blocked).toBe(!goes);
    if (!goes) return;
    expect(world.spec('web')?.reasons?.['a']).toBe(
      'it is being drained; its claim data is made anew, without the data',
    );
    // The pod has left, and is not ready where it is to be: its data is all there is.
    for (const share of [
      { ...active, phase: 'Joining' as const },
      { ...active, replicas: 0 },
    ]) {
      world.share('web', { b: share });
      expect(world.decide().spec('data')?.clusters).toEqual(['a', 'b']);
      expect(world.last?.blocked).toBe(false);
    }
    world.share('web', { b: active });
    expect(world.decide().spec('data')?.clusters).toEqual(['b']);
  });

  it.each<[string, Record<string, Share>, string | undefined, string[]]>([
    ['all of it is there', { a: active, b: { phase: 'Joining', replicas: 0 } }, undefined, ['a']],
    [
      'all of it is there, and others were made too',
      { a: active, b: { ...active, phase: 'Joining' } },
      undefined,
      ['a'],
    ],
    ['what leaves is withdrawn', { a: { ...active, phase: 'Withdrawing' }, b: active }, undefined, ['a']],
    ['it has left', { a: { ...active, phase: 'Leaving' }, b: active }, undefined, ['b']],
    ['it has stopped', { a: { ...active, replicas: 0 }, b: active }, undefined, ['b']],
    ['it is named elsewhere', { a: active, b: { phase: 'Joining', replicas: 0 } }, 'b', ['b']],
  ])('what its user holds again on the way stays with its data: %s', (_what, shares, on, expected) => {
    const world = settled('a', 'Bound');
    const say = (word: string) => {
      world.objects = world.objects.map(({ kind, object }) => {
        if (object.kind !== 'Deployment') return { kind, object };
        const named = word === 'hold' && on !== undefined ? annotations(on).annotations : {};
        return {
          kind,
          object: { ...object, metadata: says({ ...object.metadata, annotations: named }, word) },
        };
      });
      return world.decide().spec('web')?.clusters;
    };
    world.clusters = [draining('a'), cluster('b')];
    expect(say('recreate')).toEqual(['b']);
    world.share('web', shares);
    expect(say('hold')).toEqual(expected);
    expect(world.decide().spec('web')?.clusters).toEqual(expected);
  });

  it('stays where its user holds it again after what uses it has left, until the claim itself says otherwise', () => {
    const world = settled('a', 'Bound');
    const say = (ofWeb: string | undefined, ofData?: string) => {
      world.objects = world.objects.map(({ kind, object }) => {
        const word = object.kind === 'Deployment' ? ofWeb : ofData;
        const { 'atoll.dev/volumes': _before, ...rest } = object.metadata.annotations ?? {};
        return {
          kind,
          object: { ...object, metadata: says({ ...object.metadata, annotations: rest }, word) },
        };
      });
      return world.decide().spec('data');
    };
    world.clusters = [draining('a'), cluster('b')];
    say('recreate');
    world.share('web', { b: { ...active, phase: 'Joining' } });
    world.share('data', { a: { phase: 'Active' }, b: { phase: 'Active' } });
    bind(world, 'Bound', ['a', 'b']);
    expect(say('hold')?.clusters).toEqual(['a', 'b']);
    world.share('web', { b: active });
    expect(say('hold')?.clusters).toEqual(['a', 'b']);
    expect(world.spec('data')?.reasons?.['a']).toBe(
      'it holds data there, which cannot be moved; annotate it with atoll.dev/volumes: recreate to give that up',
    );
    expect(say('hold', 'recreate')?.clusters).toEqual(['b']);
  });

  it('is held by another that uses it and does not give it up', () => {
    const world = settled('a', 'Bound');
    const other = deployment('other', { podSpec });
    world.objects = world.objects.map(({ kind, object }) => ({
      kind,
      object: {
        ...object,
        metadata: says(object.metadata, object.kind === 'Deployment' ? 'recreate' : undefined),
      },
    }));
    world.objects.push(other);
    world.decide();
    world.share('other', { a: active });
    world.clusters = [draining('a'), cluster('b')];
    world.decide();
    expect(world.spec('web')?.clusters).toEqual(['b']);
    expect(world.spec('other')?.clusters).toEqual(['a']);
    expect(world.spec('data')?.clusters).toEqual(['a', 'b']);
  });

  it('is driven away by no taint either, and a cluster that is gone holds nothing', () => {
    const world = settled('a', 'Bound');
    world.clusters = [cluster('a', { taints: [{ key: 'k', effect: 'NoExecute' }] }), cluster('b')];
    expect(world.decide().spec('web')?.clusters).toEqual(['a']);
    world.clusters = [cluster('b')];
    expect(world.decide().spec('web')?.clusters).toEqual(['b']);
  });

  it('goes after the workload when the user moves it', () => {
    const world = settled('a', 'Bound');
    annotate(world, 'b');
    expect(world.spec('data')?.clusters).toEqual(['a', 'b']);
    world.share('web', { b: active });
    expect(world.decide().spec('data')?.clusters).toEqual(['b']);
  });

  it.each([
    ['Bound', ['a']],
    ['Pending', []],
  ])(
    'that is %s stays without its workload as it should, and does not move in a drain',
    (phase, expected) => {
      const world = settled('a', phase);
      world.objects = world.objects.slice(1);
      world.share('web', {});
      world.decide();
      expect(world.spec('data')?.clusters).toEqual(expected);
      world.clusters = [draining('a'), cluster('b')];
      world.decide();
      expect(world.spec('data')?.clusters).toEqual(expected);
      expect(world.last?.blocked).toBe(phase === 'Bound');
      if (phase === 'Bound') expect(world.spec('data')?.reasons?.['a']).toContain('it holds data there');
    },
  );

  it('is let go when the user deletes it', () => {
    const world = settled('a', 'Bound');
    world.objects = [];
    world.share('web', {});
    world.decide();
    expect(world.decide().spec('data')?.clusters).toEqual([]);
  });
});
