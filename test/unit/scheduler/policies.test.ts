import { describe, expect, it } from 'vitest';
import type { PlacementPolicy, PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { timestamp } from '../../../kube/timestamp.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, namespace, World } from './world.ts';

type Spec = PlacementPolicySpec;

const policy = (kind: string, name: string, spec: Spec, at: object): PlacementPolicy => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind,
  metadata: { name, ...at },
  spec,
});
const ofTeam = { annotations: { 'kcp.io/cluster': 'team' } };
/** Of a Namespace of the logical cluster team: its own, the logical cluster's, root's. */
const layers = (...all: Record<string, Spec>[]) => {
  const made = (index: number, kind: string, at: object) =>
    layer(Object.entries(all[index] ?? {}).map(([name, spec]) => policy(kind, name, spec, at)));
  return [
    made(0, 'PlacementPolicy', { namespace: 'shop', ...ofTeam }),
    made(1, 'ClusterPlacementPolicy', ofTeam),
    made(2, 'ClusterPlacementPolicy', {}),
  ];
};

const labelled = (name: string, region: string, spec: object = {}): PhysicalCluster => {
  const made = cluster(name, spec);
  return { ...made, metadata: { ...made.metadata, labels: { region } } };
};
const four = () => [labelled('a', 'us'), labelled('b', 'eu'), labelled('c', 'eu'), labelled('d', 'asia')];
const world = (...policies: Record<string, Spec>[]) => {
  const made = new World(deployment('web', { metadata: { labels: { tier: 'front' } } }));
  made.clusters = four();
  made.policies = layers(...policies);
  return made;
};
const eu = { labelSelector: { matchLabels: { region: 'eu' } } };

describe('policies choose', () => {
  it.each<[string, Record<string, Spec>[], string[]]>([
    ['none: one cluster', [], ['a']],
    ['names', [{ p: { clusters: { names: ['c', 'b'] } } }], ['b', 'c']],
    ['N of the names', [{ p: { clusters: { names: ['b', 'c', 'd'], count: 2 } } }], ['b', 'c']],
    ['all that match', [{ p: { clusters: eu } }], ['b', 'c']],
    ['one that matches', [{ p: { clusters: { ...eu, count: 1 } } }], ['b']],
    ['all that match but one', [{ p: { clusters: { ...eu, exclude: ['b'] } } }], ['c']],
    [
      'by expression',
      [
        {
          p: {
            clusters: {
              labelSelector: {
                matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['us', 'eu'] }],
              },
            },
          },
        },
      ],
      ['d'],
    ],
    ['any but those', [{ p: { clusters: { exclude: ['a', 'b'] } } }], ['c']],
    ['so many of any', [{ p: { clusters: { count: 3 } } }], ['a', 'b', 'c']],
    ['as many as there are', [{ p: { clusters: { count: 9 } } }], ['a', 'b', 'c', 'd']],
    [
      'the higher priority',
      [{ p: { clusters: { names: ['a'] } }, q: { priority: 1, clusters: { names: ['b'] } } }],
      ['b'],
    ],
    [
      'then the first by name',
      [{ q: { clusters: { names: ['a'] } }, p: { clusters: { names: ['b'] } } }],
      ['b'],
    ],
    [
      'the namespace’s before the logical cluster’s',
      [{ p: { clusters: { names: ['b'] } } }, { q: { clusters: { names: ['c'] } } }],
      ['b'],
    ],
    [
      'the logical cluster’s before root’s',
      [{}, { p: { clusters: { names: ['b'] } } }, { q: { clusters: { names: ['c'] } } }],
      ['b'],
    ],
    ['root’s where nobody else says any', [{}, {}, { q: { clusters: { names: ['c'] } } }], ['c']],
    [
      'what names nothing narrows what is below',
      [{ p: { clusters: { exclude: ['b'] } } }, {}, { q: { clusters: eu } }],
      ['c'],
    ],
    [
      'labels of both',
      [{ p: { clusters: { labelSelector: {}, count: 4 } } }, {}, { q: { clusters: eu } }],
      ['b', 'c'],
    ],
    [
      'how many: whoever says it first',
      [{ p: { clusters: { count: 1 } } }, { q: { clusters: { names: ['c', 'd'] } } }],
      ['c'],
    ],
    [
      'names below are not asked',
      [{ p: { clusters: { names: ['a'] } } }, { q: { clusters: { exclude: ['a'] } } }],
      ['a'],
    ],
  ])('%s', (_what, policies, expected) => {
    expect(
      world(...policies)
        .decide()
        .spec('web')?.clusters,
    ).toEqual(expected);
  });

  it.each<[string, Spec['selector'], boolean]>([
    ['without a selector', undefined, true],
    ['its kind', { kinds: [{ group: 'apps', kind: 'Deployment' }] }, true],
    ['another kind', { kinds: [{ kind: 'Job' }] }, false],
    ['its name', { names: ['x', 'web'] }, true],
    ['another name', { names: ['x'] }, false],
    ['its labels', { labelSelector: { matchLabels: { tier: 'front' } } }, true],
    ['others', { labelSelector: { matchLabels: { tier: 'back' } } }, false],
    ['its Namespace', { namespaces: ['shop'] }, true],
    ['another Namespace', { namespaces: ['x'] }, false],
    ['labels of its Namespace', { namespaceSelector: { matchLabels: { stage: 'prod' } } }, true],
    ['others of its Namespace', { namespaceSelector: { matchLabels: { stage: 'test' } } }, false],
    ['not all of it', { names: ['web'], kinds: [{ kind: 'Job' }] }, false],
    ['empty lists as absent ones', { names: [], kinds: [], namespaces: [] }, true],
  ])('by selectors: %s', (_what, selector, isSelected) => {
    const made = world({}, {}, { p: { ...(selector && { selector }), clusters: { names: ['d'] } } });
    made.namespace = { ...namespace(), metadata: { name: 'shop', labels: { stage: 'prod' } } };
    expect(made.decide().spec('web')?.clusters).toEqual([isSelected ? 'd' : 'a']);
  });

  it.each<[string, string | undefined, string | undefined, Record<string, Spec>, string[]]>([
    ['the object’s annotation counts more', 'd', undefined, { p: { clusters: eu } }, ['d']],
    ['and the Namespace’s', undefined, 'd', { p: { clusters: eu } }, ['d']],
    ['an exclusion narrows the policy', '!b', undefined, { p: { clusters: eu } }, ['c']],
    ['and that of the Namespace', undefined, '!c', { p: { clusters: eu } }, ['b']],
    ['and its names', '!c', 'c,d', {}, ['d']],
    ['an exclusion alone', '!a,!b', undefined, {}, ['c']],
    ['both exclusions', '!a', '!b', {}, ['c']],
  ])('beside annotations: %s', (_what, own, ns, policies, expected) => {
    const made = world(policies);
    if (own) made.objects = [deployment('web', { metadata: annotations(own, 'ann') })];
    made.namespace = namespace(ns);
    made.decide();
    expect(made.spec('web')?.clusters).toEqual(expected);
    expect(made.note('web')).toBe(own ?? (ns && !ns.startsWith('!') ? undefined : expected.join(',')));
  });
});

describe('policies explain', () => {
  it('who chose and who refused each cluster', () => {
    const made = world(
      { web: { clusters: { exclude: ['b'] } } },
      {},
      {
        eu: {
          clusters: {
            labelSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['eu', 'us'] }] },
            count: 1,
          },
        },
      },
    );
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['a'],
      policies: ['PlacementPolicy web', 'ClusterPlacementPolicy eu of root'],
      reasons: {
        a: 'by ClusterPlacementPolicy eu of root',
        b: 'excluded by PlacementPolicy web',
        c: 'not needed: ClusterPlacementPolicy eu of root asks for 1',
        d: 'its labels do not match ClusterPlacementPolicy eu of root',
      },
    });
  });

  it('what is asked for and refused', () => {
    const made = world({ p: { clusters: { names: ['b', 'nowhere'] } } });
    expect(made.decide().spec('web')).toMatchObject({
      wanted: ['b', 'nowhere'],
      reasons: { b: 'by PlacementPolicy p', nowhere: 'there is no physical cluster of this name' },
    });
  });

  it('an exclusion', () => {
    const made = world();
    made.objects = [deployment('web', { metadata: annotations('!a', 'ann') })];
    expect(made.decide().spec('web')?.reasons).toEqual({
      a: 'excluded by its annotation',
      b: 'chosen within its annotation',
    });
  });
});

describe('what is there', () => {
  it.each<[string, Spec, Spec | undefined, string[]]>([
    ['stays where it is allowed', { clusters: { names: ['d'] } }, { clusters: { count: 1 } }, ['d']],
    ['goes where it is not', { clusters: { names: ['d'] } }, { clusters: { ...eu, count: 1 } }, ['b']],
    ['is joined by more', { clusters: { names: ['d'] } }, { clusters: { count: 2 } }, ['a', 'd']],
    ['gives up what is too many', { clusters: eu }, { clusters: { count: 1 } }, ['b']],
    ['stays when the policy is gone', { clusters: eu }, undefined, ['b', 'c']],
    ['stays where nothing fits', { clusters: { names: ['d'] } }, { clusters: { names: ['nowhere'] } }, ['d']],
  ])('%s', (_what, before, after, expected) => {
    const made = world({ p: before }).decide();
    made.policies = layers(after ? { p: after } : {});
    expect(made.decide().spec('web')?.clusters).toEqual(expected);
    if (!after) expect(JSON.stringify(made.spec('web'))).not.toContain('PlacementPolicy');
  });

  it('says why it stays, and that somebody is to look again', () => {
    const made = world({ p: { clusters: { names: ['d'] } } }).decide();
    made.policies = layers({ p: { clusters: { exclude: ['d'], count: 1 } } });
    made.clusters = four().map((one) => ({ ...one, spec: { ...one.spec!, unschedulable: true } }));
    made.decide();
    expect(made.last).toMatchObject({ blocked: true, open: true });
    expect(made.spec('web')).toMatchObject({
      clusters: ['d'],
      blocked: true,
      reasons: { a: 'it is cordoned', d: 'excluded by PlacementPolicy p, but nothing else fits: it stays' },
    });
  });

  it.each<[string, Spec, boolean]>([
    ['all that match', { clusters: eu }, true],
    ['fewer than asked for', { clusters: { count: 9 } }, true],
    ['as many as asked for', { clusters: { count: 2 } }, false],
    ['names', { clusters: { names: ['a'] } }, false],
  ])('is open to any cluster that comes: %s', (_what, spec, isOpen) => {
    expect(world({ p: spec }).decide().last?.open).toBe(isOpen);
  });

  it('follows the labels of clusters', () => {
    const made = world({ p: { clusters: eu } }).decide();
    made.clusters = [labelled('a', 'eu'), labelled('b', 'us'), labelled('c', 'eu')];
    expect(made.decide().spec('web')?.clusters).toEqual(['a', 'c']);
  });

  it.each<[string, { policies?: Record<string, Spec>; own?: string }, string[], boolean]>([
    [
      'no policy takes it from its data',
      { policies: { p: { clusters: { names: ['a'] } } } },
      ['a', 'd'],
      true,
    ],
    ['nor an exclusion of one', { policies: { p: { clusters: { exclude: ['d'] } } } }, ['d'], true],
    ['nor a number', { policies: { p: { clusters: { ...eu, count: 1 } } } }, ['d'], true],
    ['the user’s own exclusion does', { own: '!d' }, ['a'], false],
  ])('%s', (_what, { policies = {}, own }, expected, blocked) => {
    const podSpec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] };
    const made = world({ p: { clusters: { names: ['d'] } } });
    made.objects = [deployment('web', { podSpec }), placed('PersistentVolumeClaim', 'data')];
    made.decide();
    made.share('data', { d: { phase: 'Active' } });
    made.placements = made.placements.map((p) =>
      p.spec?.ref.name === 'data'
        ? { ...p, status: { clusters: { d: { present: true, status: { phase: 'Bound' } } } } }
        : p,
    );
    made.policies = layers(policies);
    if (own) made.objects[0] = deployment('web', { podSpec, metadata: annotations(own, 'ann') });
    made.decide();
    expect(made.spec('web')?.clusters).toEqual(expected);
    expect(made.last?.blocked).toBe(blocked);
    expect(made.spec('data')?.clusters).toContain(expected.at(-1));
  });

  it('what goes along follows its workload, not the policy', () => {
    const podSpec = { volumes: [{ configMap: { name: 'conf' } }] };
    const made = world({ p: { clusters: eu } });
    made.objects = [deployment('web', { podSpec }), placed('ConfigMap', 'conf'), placed('ConfigMap', 'x')];
    made.decide();
    expect(made.spec('conf')?.clusters).toEqual(['b', 'c']);
    expect(made.spec('x')).toBeUndefined();
  });
});

describe('tolerations', () => {
  const dedicated = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' as const };
  it.each<[string, Spec['tolerations'], object, string[]]>([
    ['none', [], dedicated, ['c']],
    ['by value', [{ key: 'dedicated', value: 'gpu' }], dedicated, ['b', 'c']],
    ['of another value', [{ key: 'dedicated', value: 'x' }], dedicated, ['c']],
    ['of any value', [{ key: 'dedicated', operator: 'Exists' }], dedicated, ['b', 'c']],
    ['of another key', [{ key: 'x', operator: 'Exists' }], dedicated, ['c']],
    ['of another effect', [{ key: 'dedicated', value: 'gpu', effect: 'NoExecute' }], dedicated, ['c']],
    ['of everything', [{ operator: 'Exists' }], dedicated, ['b', 'c']],
    ['of what drives away', [{ operator: 'Exists' }], { key: 'k', effect: 'NoExecute' }, ['b', 'c']],
    ['none of what drives away', [], { key: 'k', effect: 'NoExecute' }, ['c']],
  ])('%s', (_what, tolerations, taint, expected) => {
    const made = world({}, { p: { clusters: eu, ...(tolerations && { tolerations }) } });
    made.clusters = [labelled('a', 'us'), labelled('b', 'eu', { taints: [taint] }), labelled('c', 'eu')];
    expect(made.decide().spec('web')?.clusters).toEqual(expected);
  });

  const began = '2026-01-01T00:00:00Z';
  const noExecute = { key: 'k', effect: 'NoExecute', timeAdded: began };
  const forAWhile = (tolerationSeconds: number, key = 'k') =>
    ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }) as const;
  const ever = { key: 'k', operator: 'Exists' } as const;
  it.each<[string, NonNullable<Spec['tolerations']>, object, number, string[], number]>([
    ['before its end', [forAWhile(60)], noExecute, 59, ['b', 'c'], 60],
    ['at its end', [forAWhile(60)], noExecute, 60, ['c'], Number.POSITIVE_INFINITY],
    ['the shortest of several', [forAWhile(60), forAWhile(30), ever], noExecute, 29, ['b', 'c'], 30],
    ['for no time at all', [forAWhile(-1)], noExecute, 0, ['c'], Number.POSITIVE_INFINITY],
    ['for ever', [ever], noExecute, 1e9, ['b', 'c'], Number.POSITIVE_INFINITY],
    ['of another', [forAWhile(60, 'x')], noExecute, 0, ['c'], Number.POSITIVE_INFINITY],
    ['since nobody knows when', [forAWhile(60)], { ...noExecute, timeAdded: undefined }, 0, ['c'], Infinity],
  ])('that end: %s', (_what, tolerations, taint, seconds, expected, until) => {
    const made = world({}, { p: { clusters: eu, tolerations } });
    made.clusters = [labelled('a', 'us'), labelled('b', 'eu'), labelled('c', 'eu')];
    made.now = Date.parse(began);
    expect(made.decide().spec('web')?.clusters).toEqual(['b', 'c']);
    made.clusters = [labelled('a', 'us'), labelled('b', 'eu', { taints: [taint] }), labelled('c', 'eu')];
    made.now += seconds * 1000;
    expect(made.decide().spec('web')?.clusters).toEqual(expected);
    expect(((made.last?.toleratedUntil ?? 0) - Date.parse(began)) / 1000).toBe(until);
    const end = () => timestamp(Date.parse(began) + until * 1000);
    const said = 'by ClusterPlacementPolicy p; it has the taint k:NoExecute, which is tolerated until';
    if (Number.isFinite(until)) expect(made.spec('web')?.reasons?.['b']).toBe(`${said} ${end()}`);
  });

  it('that end let nothing new in', () => {
    const made = world({}, { p: { clusters: eu, tolerations: [forAWhile(60)] } });
    made.clusters = [labelled('b', 'eu', { taints: [noExecute] }), labelled('c', 'eu')];
    made.now = Date.parse(began);
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['c'],
      reasons: { b: 'it has the taint k:NoExecute, which is tolerated for a while only' },
    });
  });

  it('of silence end when they say so, and only then is anything made elsewhere', () => {
    const silent = labelled('b', 'eu', { ready: false });
    const ready = { ...silent.status?.conditions?.[0], lastTransitionTime: began };
    const unreachable = { ...silent, status: { conditions: [ready] } } as PhysicalCluster;
    const since = (tolerations: NonNullable<Spec['tolerations']>, seconds: number) => {
      const made = world({}, { p: { clusters: { names: ['b', 'c'], count: 1 }, tolerations } });
      made.clusters = [labelled('b', 'eu'), labelled('c', 'eu')];
      expect(made.decide().spec('web')?.clusters).toEqual(['b']);
      made.clusters = [unreachable, labelled('c', 'eu')];
      made.now = Date.parse(began) + seconds * 1000;
      return made.decide().spec('web');
    };
    expect(since([], 1e9)?.clusters).toEqual(['b']);
    expect(since([{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }], 1e9)?.clusters).toEqual(
      ['b'],
    );
    expect(since([forAWhile(300, 'atoll.dev/unreachable')], 299)?.clusters).toEqual(['b']);
    const moved = since([forAWhile(300, 'atoll.dev/unreachable')], 300);
    expect(moved?.clusters).toEqual(['c']);
    expect(moved?.reasons?.['b']).toBe(
      'cluster b has not answered yet, and that was tolerated until 2026-01-01T00:05:00Z',
    );
  });

  const heard = (name: string, status: 'True' | 'False', seconds: number): PhysicalCluster => {
    const made = labelled(name, 'eu', { ready: status === 'True' });
    const lastTransitionTime = new Date(Date.parse(began) + seconds * 1000).toISOString();
    const ready = { type: 'Ready', status, reason: 'r', message: '', lastTransitionTime };
    return { ...made, status: { conditions: [ready] } };
  };
  it.each<[string, PhysicalCluster[], number, number, string, number]>([
    ['it counts, where another was heard of all the time', [heard('c', 'True', -9)], -9, 300, 'c', Infinity],
    ['not while none is heard of', [heard('c', 'False', 5)], -9, 1000, 'b', 1300],
    ['from when the first of others was heard of again', [heard('c', 'True', 900)], -9, 901, 'b', 1200],
    ['from then on', [heard('c', 'True', 900)], -9, 1200, 'c', Infinity],
    [
      'by the one of them that was heard of longest',
      [heard('c', 'True', 900), heard('d', 'True', 100)],
      -9,
      400,
      'c',
      Infinity,
    ],
    ['not while nobody listened', [heard('c', 'True', -9)], 900, 901, 'b', 1200],
    ['but from when somebody does', [heard('c', 'True', -9)], 900, 1200, 'c', Infinity],
  ])('of silence: %s', (_, others, started, seconds, expected, until) => {
    const tolerations = [forAWhile(300, 'atoll.dev/unreachable')];
    const names = ['b', 'c', 'd'];
    const made = world({}, { p: { clusters: { names, count: 1 }, tolerations } });
    made.clusters = [heard('b', 'True', -9)];
    made.now = Date.parse(began);
    expect(made.decide().spec('web')?.clusters).toEqual(['b']);
    made.clusters = [heard('b', 'False', 0), ...others];
    made.startedAt = Date.parse(began) + started * 1000;
    made.now = Date.parse(began) + seconds * 1000;
    expect(made.decide().spec('web')?.clusters).toEqual([expected]);
    expect(((made.last?.toleratedUntil ?? 0) - Date.parse(began)) / 1000).toBe(until);
  });

  it('are those of all layers, and make a shunned cluster as good as any', () => {
    const made = world(
      { p: { clusters: { exclude: ['a'], count: 1 } } },
      { q: { clusters: { exclude: ['d'] }, tolerations: [{ key: 'k', operator: 'Exists' }] } },
    );
    const taints = [{ key: 'k', effect: 'PreferNoSchedule' }];
    made.clusters = [
      labelled('a', 'us'),
      labelled('b', 'eu', { taints }),
      labelled('c', 'eu'),
      labelled('d', 'us'),
    ];
    expect(made.decide().spec('web')?.clusters).toEqual(['b']);
  });
});

describe('groups', () => {
  const groups = [['c', 'd'], ['a'], ['b']];
  const full = { capacity: { pods: '0' } };
  const drained = { unschedulable: true, drain: true };
  it.each<[string, NonNullable<Spec['clusters']>, Record<string, object>, string[]]>([
    ['the first', { groups }, {}, ['c', 'd']],
    ['what fits of the first', { groups }, { c: full }, ['d']],
    ['overflow to the next', { groups }, { c: full, d: full }, ['a']],
    ['and to the one after', { groups }, { c: full, d: full, a: full }, ['b']],
    ['nothing fits', { groups }, { c: full, d: full, a: full, b: full }, []],
    ['so many of the first', { groups, count: 1 }, {}, ['c']],
    ['and of the next', { groups, count: 3 }, {}, ['a', 'c', 'd']],
    ['and of the next that has room', { groups, count: 3 }, { a: full }, ['b', 'c', 'd']],
    ['narrowed by labels', { groups, ...eu }, {}, ['c']],
  ])('%s', (_what, clusters, specs, expected) => {
    const made = world({ p: { clusters } });
    made.clusters = ['a', 'b', 'c', 'd'].map((name) =>
      labelled(name, name === 'b' || name === 'c' ? 'eu' : 'us', specs[name]),
    );
    expect(made.decide().spec('web')?.clusters).toEqual(expected);
  });

  it.each<[string, Record<string, object>, string[]]>([
    ['stays where it has come to, though an earlier group has room', {}, ['a']],
    ['moves to the first that fits when it is driven away', { a: drained, c: full }, ['d']],
    ['stays where nothing else fits', { a: drained, b: full, c: full, d: full }, ['a']],
  ])('%s', (_what, specs, expected) => {
    const made = world({ p: { clusters: { groups } } });
    const all = (of: Record<string, object>) => ['a', 'b', 'c', 'd'].map((name) => cluster(name, of[name]));
    made.clusters = all({ c: full, d: full });
    expect(made.decide().spec('web')).toMatchObject({
      clusters: ['a'],
      reasons: { a: 'by PlacementPolicy p', c: 'needs 1 pod, 0 left' },
    });
    made.clusters = all(specs);
    expect(made.decide().spec('web')?.clusters).toEqual(expected);
  });
});
