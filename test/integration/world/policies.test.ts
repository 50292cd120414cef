import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, namespaces, physicalclusters, placements, workspaces } = resources;
const { placementpolicies, clusterplacementpolicies } = resources;
const rbac = 'rbac.authorization.k8s.io';
const regions = { east: 'us', north: 'eu', west: 'eu' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: Object.keys(regions) });
  for (const [name, region] of Object.entries(regions))
    await world.admin.patch(physicalclusters, { name }, 'merge', { metadata: { labels: { region } } });
});
afterAll(() => world.stop());

const policy = (name: string, spec: object, kind = 'PlacementPolicy'): KubeObject => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});
const inRegion = (region: string) => ({ labelSelector: { matchLabels: { region } } });

describe('a policy is refused', () => {
  const clusters = { names: ['east'] };
  test.each<[string, object, string]>([
    ['without clusters', {}, 'spec.clusters: Required value'],
    [
      'that says nothing of them',
      { clusters: {} },
      'spec.clusters: Required value: say names, groups, labelSelector, expression, exclude, count, spread, overflow, affinity or antiAffinity',
    ],
    [
      'that asks for none',
      { clusters: { count: 0 } },
      'spec.clusters.count: Invalid value: 0: must be greater than zero',
    ],
    [
      'that asks for less than none',
      { clusters: { count: -1 } },
      'is invalid: spec.clusters.count: Invalid value: -1: must be greater than zero',
    ],
    [
      'that asks for more than it names',
      { clusters: { ...clusters, count: 2 } },
      'spec.clusters.count: Invalid value: 2: must not be more than the 1 that are named',
    ],
    ['that asks for half a cluster', { clusters: { count: 1.5 } }, 'spec.clusters.count: Invalid value: '],
    [
      'that names and excludes',
      { clusters: { ...clusters, exclude: ['west'] } },
      'spec.clusters.exclude: Forbidden: may not be set together with names; leave them out of the names',
    ],
    [
      'that names and groups',
      { clusters: { ...clusters, groups: [['west']] } },
      'spec.clusters.groups: Forbidden: may not be set together with names; make them a group',
    ],
    [
      'of a group that has none',
      { clusters: { groups: [['east'], []] } },
      'spec.clusters.groups[1]: Required value: name the clusters of the group',
    ],
    [
      'of a cluster in two groups',
      { clusters: { groups: [['east'], ['west', 'east']] } },
      'spec.clusters.groups[1][1]: Duplicate value: "east"',
    ],
    [
      'with an expression that is none',
      { clusters: { expression: 'cluster.name ==' } },
      'spec.clusters.expression: Invalid value: "cluster.name ==": compilation failed: ',
    ],
    [
      'with an expression of what there is not',
      { clusters: { expression: 'node.name == "a"' } },
      'spec.clusters.expression: Invalid value: "node.name == \\"a\\"": compilation failed: ',
    ],
    [
      'with an expression of a field that clusters do not have',
      { clusters: { expression: 'cluster.nme == "a"' } },
      `spec.clusters.expression: Invalid value: "cluster.nme == \\"a\\"": compilation failed: ERROR: <input>:1:8: undefined field 'nme'`,
    ],
    [
      'with an expression that is no question',
      { clusters: { expression: 'cluster.name' } },
      'spec.clusters.expression: Invalid value: "cluster.name": must evaluate to bool but got string',
    ],
    [
      'with an empty expression',
      { clusters: { expression: '' } },
      'spec.clusters.expression: Required value',
    ],
    [
      'with an expression that is too long',
      { clusters: { expression: `true || ${'true'.padStart(10_240)}` } },
      'spec.clusters.expression: Too long: may not be more than 10240 bytes',
    ],
    [
      'that spreads over nothing',
      { clusters: { spread: {} } },
      'spec.clusters.spread.topologyKey: Required value',
    ],
    [
      'that spreads over what can be no label',
      { clusters: { spread: { topologyKey: 'a b' } } },
      'spec.clusters.spread.topologyKey: Invalid value: "a b": name part must consist of',
    ],
    [
      'of fewer replicas than none',
      { clusters: { spread: { topologyKey: 'region', replicas: { us: -1 } } } },
      'spec.clusters.spread.replicas[us]: Invalid value: -1: must be between 1 and 1000000, inclusive',
    ],
    [
      'of counts that say nothing',
      { clusters: { spread: { topologyKey: 'region', replicas: {} } } },
      'spec.clusters.spread.replicas: Required value: say how many replicas each value has, or leave it out',
    ],
    [
      'of a value that no label has',
      { clusters: { spread: { topologyKey: 'region', replicas: { 'a b': 1 } } } },
      'spec.clusters.spread.replicas[a b]: Invalid value: "a b": a valid label must be',
    ],
    [
      'of exact counts and a skew',
      { clusters: { spread: { topologyKey: 'region', replicas: { us: 1 }, maxSkew: 1 } } },
      'spec.clusters.spread.maxSkew: Forbidden: may not be set together with replicas, which are exact',
    ],
    [
      'of no skew at all',
      { clusters: { spread: { topologyKey: 'region', maxSkew: 0 } } },
      'spec.clusters.spread.maxSkew: Invalid value: 0: must be greater than zero',
    ],
    [
      'that spreads groups',
      { clusters: { groups: [['east']], spread: { topologyKey: 'region' } } },
      'spec.clusters.spread: Forbidden: may not be set together with groups; use names or labelSelector',
    ],
    [
      'of more values than clusters',
      { clusters: { count: 1, spread: { topologyKey: 'region', replicas: { us: 1, eu: 1 } } } },
      'spec.clusters.count: Invalid value: 1: must not be less than the 2 values of spread.replicas',
    ],
    [
      'that names what can be no name',
      { clusters: { names: ['East'] } },
      'spec.clusters.names[0]: Invalid value: "East": a lowercase RFC 1123 subdomain must consist of',
    ],
    [
      'that names one twice',
      { clusters: { names: ['east', 'east'] } },
      'spec.clusters.names[1]: Duplicate value: "east"',
    ],
    [
      'with a label that can be none',
      { clusters: { labelSelector: { matchLabels: { 'a b': 'c' } } } },
      'spec.clusters.labelSelector.matchLabels: Invalid value: "a b": name part must consist of',
    ],
    [
      'with an operator that there is not',
      { clusters: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } } },
      'spec.clusters.labelSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
    ],
    [
      'beside whom it does not say',
      { clusters: { affinity: [{}] } },
      'spec.clusters.affinity[0].labelSelector: Required value',
    ],
    [
      'apart from a label that can be none',
      { clusters: { antiAffinity: [{ labelSelector: { matchLabels: { 'a b': 'c' } } }] } },
      'spec.clusters.antiAffinity[0].labelSelector.matchLabels: Invalid value: "a b": name part must consist of',
    ],
    [
      'beside by what can be no label',
      { clusters: { affinity: [{ labelSelector: {}, topologyKey: 'a b' }] } },
      'spec.clusters.affinity[0].topologyKey: Invalid value: "a b": name part must consist of',
    ],
    [
      'apart from too many',
      { clusters: { antiAffinity: Array.from({ length: 11 }, () => ({ labelSelector: {} })) } },
      'spec.clusters.antiAffinity: Too many: 11: must have at most 10 items',
    ],
    [
      'of a kind that runs nothing',
      { clusters, selector: { kinds: [{ kind: 'ConfigMap' }] } },
      'spec.selector.kinds[0].kind: Unsupported value: "ConfigMap": supported values: "Deployment", "StatefulSet"',
    ],
    [
      'of a group that has no such kind',
      { clusters, selector: { kinds: [{ group: 'batch', kind: 'Deployment' }] } },
      'spec.selector.kinds[0].group: Unsupported value: "batch": supported values: "apps"',
    ],
    [
      'with an operator that no toleration has',
      { clusters, tolerations: [{ key: 'a', operator: 'Near' }] },
      'spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
    ],
    [
      'that tolerates for a while what drives nothing away',
      {
        clusters,
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }],
      },
      'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
    ],
    [
      'that tolerates a silence as it is tolerated anyway',
      { clusters, tolerations: [{ key: 'atoll.dev/unreachable', operator: 'Exists' }] },
      'spec.tolerations[0].tolerationSeconds: Required value: without it a silence is tolerated anyway',
    ],
    [
      'of other Namespaces',
      { clusters, selector: { namespaces: ['other'] } },
      'spec.selector.namespaces: Forbidden: a PlacementPolicy is about its own Namespace; use a ClusterPlacementPolicy for others',
    ],
  ])('%s', async (_what, spec, message) => {
    await expect(
      world.admin.create(placementpolicies, policy('odd', spec), { namespace: 'default' }),
    ).rejects.toMatchObject({ code: 422, reason: 'Invalid', message: expect.stringContaining(message) });
  });

  test('with a field that there is not, where the client asks for it', async () => {
    const path = '/apis/atoll.dev/v1alpha1/namespaces/default/placementpolicies?fieldValidation=Strict';
    const body = policy('odd', { clusters: { names: ['east'], near: 'me' } });
    const answer = await world.admin.raw({ method: 'POST', path, body });
    expect(answer.status).toBe(400);
  });
});

test('one that tolerates needs no word about clusters', async () => {
  const tolerations = [{ key: 'spare', operator: 'Exists' }];
  const into = { namespace: 'default' };
  for (const clusters of [undefined, {}]) {
    const spec = { selector: { names: ['nobody'] }, tolerations, ...(clusters && { clusters }) };
    const made = await world.admin.create(placementpolicies, policy('tolerant', spec), into);
    expect(made.spec).toEqual(spec);
    await world.admin.delete(placementpolicies, { ...into, name: 'tolerant' });
  }
});

describe('who may write one', () => {
  beforeAll(async () => {
    const rules = [
      { apiGroups: ['atoll.dev'], resources: ['placementpolicies'], verbs: ['*'] },
      {
        apiGroups: ['atoll.dev'],
        resources: ['physicalclusters'],
        resourceNames: ['east'],
        verbs: ['place'],
      },
    ];
    const of = (kind: string, said: object) => ({
      apiVersion: `${rbac}/v1`,
      kind,
      metadata: { name: 'dev' },
      ...said,
    });
    const at = (resource: string) => ({ group: rbac, version: 'v1', resource });
    const roleRef = { apiGroup: rbac, kind: 'Role', name: 'dev' };
    const subjects = [{ kind: 'User', apiGroup: rbac, name: 'dev' }];
    const where = { namespace: 'default' };
    await world.admin.create(at('roles'), of('Role', { rules }), where);
    await world.admin.create(at('rolebindings'), of('RoleBinding', { roleRef, subjects }), where);
  });

  const dev = () => world.as({ name: 'dev', groups: ['system:authenticated'] });
  const none = { selector: { names: ['nothing'] } };
  const write = async (name: string, clusters: object) => {
    await dev().create(placementpolicies, policy(name, { ...none, clusters }), { namespace: 'default' });
  };

  test('what narrows the choice needs no verb on clusters', async () => {
    await write('narrow', { exclude: ['east'], count: 1 });
    await write('labels', inRegion('eu'));
  });

  test('what names clusters needs place on each, and so does any later change of it', async () => {
    await write('east', { names: ['east'] });
    await expect(write('else', { groups: [['east'], ['west']] })).rejects.toMatchObject({ code: 403 });
    await expect(write('both', { names: ['east', 'west'] })).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining(
        'User "dev" cannot place on physicalclusters.atoll.dev/west in the namespace "default": ' +
          'the field spec.clusters needs the verb "place"',
      ),
    });
    const admins = policy('admins', { ...none, clusters: { names: ['west'] } });
    await world.admin.create(placementpolicies, admins, { namespace: 'default' });
    const change = (patch: object) =>
      dev().patch(placementpolicies, { namespace: 'default', name: 'admins' }, 'merge', patch);
    await expect(change({ spec: { selector: null } })).rejects.toMatchObject({ code: 403 });
    await change({ metadata: { labels: { a: 'b' } } });
  });

  test('what tolerates taints needs place on whatever it may reach by that', async () => {
    const tolerant = (name: string, clusters: object) =>
      policy(name, { ...none, clusters, tolerations: [{ key: 'k', operator: 'Exists' }] });
    const where = { namespace: 'default' };
    await dev().create(placementpolicies, tolerant('one', { names: ['east'] }), where);
    await expect(dev().create(placementpolicies, tolerant('all', { count: 1 }), where)).rejects.toMatchObject(
      {
        code: 403,
        message: expect.stringContaining('the field spec.tolerations without names needs the verb "place"'),
      },
    );
    await world.admin.create(placementpolicies, tolerant('all', { count: 1 }), where);
  });

  test('of a whole logical cluster only by a role of it', async () => {
    const whole = policy('default', { ...none, clusters: { names: ['east'] } }, 'ClusterPlacementPolicy');
    await expect(dev().create(clusterplacementpolicies, whole)).rejects.toMatchObject({ code: 403 });
  });
});

interface Table {
  columnDefinitions: { name: string }[];
  rows: { cells: unknown[] }[];
}

test('get shows what it selects and where that runs', async () => {
  const spec: PlacementPolicySpec = {
    selector: {
      kinds: [{ kind: 'Job' }],
      names: ['nothing'],
      namespaceSelector: { matchExpressions: [{ key: 'stage', operator: 'In', values: ['a', 'b'] }] },
    },
    clusters: {
      ...inRegion('eu'),
      exclude: ['west'],
      count: 1,
      affinity: [{ labelSelector: { matchLabels: { app: 'db' } } }],
      antiAffinity: [{ labelSelector: {} }],
    },
  };
  await world.admin.create(clusterplacementpolicies, policy('shown', spec, 'ClusterPlacementPolicy'));
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const path = '/apis/atoll.dev/v1alpha1/clusterplacementpolicies';
  const { rows, columnDefinitions } = (await world.admin.json(path, { headers: { accept } })) as Table;
  expect(columnDefinitions.map(({ name }) => name)).toEqual([
    'Name',
    'Priority',
    'Selects',
    'Clusters',
    'Age',
  ]);
  expect(rows[0]?.cells.slice(0, 4)).toEqual([
    'shown',
    null,
    'Job nothing in stage in (a,b)',
    '1 of region=eu !west beside app=db apart from *',
  ]);
  await world.admin.delete(clusterplacementpolicies, { name: 'shown' });
});

const record = (name: string, namespace = 'default') =>
  find<Placement>(world.admin, placements, `${name}.deployments.apps`, namespace);

test('an edit of a policy moves what runs, and no replica is missed; without it all stays', async () => {
  const spec = { selector: { names: ['web'] }, clusters: inRegion('us') };
  await world.admin.create(placementpolicies, policy('web', spec), { namespace: 'default' });
  await world.admin.create(deployments, deployment('web', 3), { namespace: 'default' });
  const made = await settled(world.admin, 'web.deployments.apps');
  expect(made.spec).toMatchObject({ clusters: ['east'], policies: ['PlacementPolicy web'] });
  expect(made.spec?.reasons).toMatchObject({ east: 'by PlacementPolicy web' });
  await until('it is ready', async () => (await readyPods(world.physical('east'), 'web')).length === 3);

  let fewest = 3;
  const count = async () => {
    const found = await Promise.all(Object.keys(regions).map((c) => readyPods(world.physical(c), 'web')));
    fewest = Math.min(fewest, found.flat().length);
  };
  const edit = (clusters: object) =>
    world.admin.patch(placementpolicies, { namespace: 'default', name: 'web' }, 'merge', {
      spec: { clusters },
    });
  await edit(inRegion('eu'));
  await until('east is left', async () => {
    await count();
    const { shares = {} } = (await record('web'))?.spec ?? {};
    return Object.keys(shares).sort().join() === 'north,west';
  });
  expect(fewest).toBe(3);
  await settled(world.admin, 'web.deployments.apps');
  await world.admin.delete(placementpolicies, { namespace: 'default', name: 'web' });
  const after = await until('the policy is forgotten', async () => {
    const found = await record('web');
    return found?.spec?.policies === undefined ? found : undefined;
  });
  expect(after?.spec?.clusters).toEqual(['north', 'west']);
});

test('a cluster that is labelled anew joins; a policy of root holds in all logical clusters, and only for whom it selects', async () => {
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'team' } };
  await world.admin.create(workspaces, workspace);
  await until('team is ready', async () => {
    const found = await world.admin.get<KubeObject<unknown, { phase?: string }>>(workspaces, {
      name: 'team',
    });
    return found.status?.phase === 'Ready';
  });
  const team = { cluster: 'root:team', namespace: 'shop' };
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { stage: 'prod' } } };
  await world.admin.create(namespaces, shop, { cluster: team.cluster });
  const spec = {
    selector: { namespaceSelector: { matchLabels: { stage: 'prod' } } },
    clusters: inRegion('asia'),
  };
  await world.admin.create(clusterplacementpolicies, policy('asia', spec, 'ClusterPlacementPolicy'));
  const web = { ...deployment('web', 1), metadata: { name: 'web' } };
  await world.admin.create(deployments, web, team);
  const spoken = (test: (placement: Placement) => boolean) =>
    until('the Placement says so', async () => {
      const { items } = await world.admin.list<Placement>(placements, team);
      return items.find((found) => found.spec?.ref.kind === 'Deployment' && test(found));
    });
  const nowhere = await spoken(({ status }) => status?.conditions !== undefined);
  expect(nowhere.spec).toMatchObject({
    clusters: [],
    blocked: true,
    reasons: { east: 'its labels do not match ClusterPlacementPolicy asia of root' },
  });
  const relabel = (name: string, region: string) =>
    world.admin.patch<PhysicalCluster>(physicalclusters, { name }, 'merge', {
      metadata: { labels: { region } },
    });
  await relabel('west', 'asia');
  await spoken(({ spec: { clusters = [] } = {} }) => clusters.join() === 'west');
  await relabel('north', 'asia');
  await spoken(({ spec: { clusters = [] } = {} }) => clusters.join() === 'north,west');
  expect((await record('web'))?.spec?.policies, 'in a Namespace without that label').toBeUndefined();
  await world.admin.delete(clusterplacementpolicies, { name: 'asia' });
  await relabel('west', 'eu');
  await relabel('north', 'eu');
});

test('an annotation excludes clusters of a free choice, and is refused where it is odd', async () => {
  await world.admin.create(deployments, deployment('api', 1, '!east,!north'), { namespace: 'default' });
  const made = await settled(world.admin, 'api.deployments.apps');
  expect(made.spec).toMatchObject({
    clusters: ['west'],
    reasons: { east: 'excluded by its annotation', west: 'chosen within its annotation' },
  });
  await move(world.admin, deployments, 'api', '!west,!north');
  await until('it has moved', async () => (await record('api'))?.spec?.clusters.join() === 'east');
  const refused = async (value: string, message: string) =>
    await expect(move(world.admin, deployments, 'api', value)).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(message),
    });
  await refused(
    '!east,west',
    'it names clusters and excludes others with "!": leave out those that are not wanted',
  );
  await refused('!', '"!" is followed by the name of a physical cluster');
  await refused('!mars', 'no physical cluster is named mars');
});

test('a taint that drives away says since when, and who writes it again begins nothing anew', async () => {
  const target = { name: 'east' };
  const taintsOf = async () => {
    const { spec } = await world.admin.get<PhysicalCluster>(resources.physicalclusters, target);
    return spec?.taints;
  };
  const write = (taints: object[]) =>
    world.admin.patch(resources.physicalclusters, target, 'merge', { spec: { taints } });
  const [drives, other] = [
    { key: 'k', effect: 'NoExecute' },
    { key: 'k', effect: 'NoSchedule' },
  ];
  await write([other, { ...drives, timeAdded: '2026-01-31T12:00:00Z' }]);
  await write([drives, other]);
  expect(await taintsOf()).toEqual([{ ...drives, timeAdded: '2026-01-31T12:00:00Z' }, other]);
  await write([{ ...drives, value: 'v' }]);
  const [now] = (await taintsOf()) ?? [];
  expect(Math.abs(Date.now() - Date.parse(now?.timeAdded ?? ''))).toBeLessThan(600_000);
  await expect(write([{ ...drives, timeAdded: 'soon' }])).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.taints[0].timeAdded: Invalid value: "soon"'),
  });
  await write([]);
});
