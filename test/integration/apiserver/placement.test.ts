import { afterEach, beforeEach, expect, it } from 'vitest';
import { placementAdmission } from '../../../apiserver/admission/placement.ts';
import { policyAdmission } from '../../../apiserver/admission/policies.ts';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { physicalNamespace } from '../../../cluster/placement.ts';
import { ownResources } from '../../../cluster/resources.ts';
import { type Api, call, configMap, deployment, deployments, type Reply, startApi } from './api.ts';

const scheduler = ownUser('system:atoll:scheduler');
const pods = '/api/v1/namespaces/default/pods';
const [clusters, placedBy] = ['atoll.dev/clusters', 'atoll.dev/placed-by'];
const forged = {
  [clusters]: 'mars',
  [placedBy]: 'system:atoll:scheduler',
  'atoll.dev/physical-cluster': 'mars',
  'atoll.dev/locator': '{}',
  'atoll.dev/orphan-of': '{}',
  'internal.atoll.dev/parts': '{}',
  'kcp.io/cluster': 'root:other',
};

let api: Api;
beforeEach(async () => {
  const resources = ownResources.map((one) => ({ ...one, custom: true, subresources: { status: true } }));
  api = startApi({ admission: [placementAdmission, policyAdmission], resources });
  await api.addCluster('root');
  await create('/api/v1/namespaces', namespace('atoll-system'));
  for (const name of ['east', 'west']) {
    const ref = { namespace: name === 'west' ? 'default' : 'atoll-system', name: 'kubeconfig' };
    const spec = { kubeconfigSecretRef: ref };
    await create('/apis/atoll.dev/v1alpha1/physicalclusters', {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: { name },
      spec,
    });
  }
});
afterEach(() => api.close());

async function create(url: string, object: object): Promise<Reply> {
  const reply = await api.call('POST', url, object);
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 201 });
  return reply;
}

const namespace = (name: string, annotations?: object) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...(annotations && { annotations }) },
});
const pod = (name: string, annotations?: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] },
});
const annotationsOf = ({ body }: Reply) => body.metadata.annotations ?? {};
const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
  json: 'application/json-patch+json',
};
const jsonPatch = Object.entries(forged).map(([key, value]) => ({
  op: 'add',
  path: `/metadata/annotations/${key.replace('/', '~1')}`,
  value,
}));

/** As the scheduler, or a user named `mine`, placed it. */
async function placed(url: string, name: string, by: 'scheduler' | 'mine'): Promise<void> {
  const user = by === 'scheduler' ? scheduler : { name: 'mine', groups: ['system:masters'] };
  const patch = { metadata: { annotations: { [clusters]: 'east', note: 'n' } } };
  const reply = await call(api.server.transport(user), 'PATCH', `${url}/${name}`, patch);
  expect(reply.status).toBe(200);
}

const subresources: [string, string, (url: string) => Promise<Reply>][] = [
  ['PUT', 'status', (url) => put(url, 'status')],
  ['PUT', 'ephemeralcontainers', (url) => put(url, 'ephemeralcontainers')],
  ['PUT', 'resize', (url) => put(url, 'resize')],
  ...Object.entries(patchTypes).map(
    ([type, contentType]): [string, string, (url: string) => Promise<Reply>] => [
      `${type} patch`,
      'status',
      (url) => {
        const object = { apiVersion: 'v1', kind: 'Pod', metadata: { annotations: forged } };
        const body = type === 'json' ? jsonPatch : object;
        const query = type === 'apply' ? '?fieldManager=m&force=true' : '';
        return api.call('PATCH', `${url}/status${query}`, body, { 'content-type': contentType });
      },
    ],
  ),
  [
    'POST',
    'binding',
    (url) =>
      api.call('POST', `${url}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p', annotations: forged },
        target: { kind: 'Node', name: 'n' },
      }),
  ],
];

async function put(url: string, subresource: string): Promise<Reply> {
  const { body } = await api.call('GET', url);
  const annotations = { ...body.metadata.annotations, ...forged };
  const object = { ...body, metadata: { ...body.metadata, annotations } };
  return api.call('PUT', `${url}/${subresource}`, object);
}

it.each(subresources)(
  '%s of %s leaves where a Pod runs, and who said so, as it was',
  async (_, __, write) => {
    await create(pods, pod('p'));
    for (const by of ['scheduler', 'mine'] as const) {
      await placed(pods, 'p', by);
      const before = annotationsOf(await api.call('GET', `${pods}/p`));
      expect(before).toMatchObject({ [clusters]: 'east' });
      const reply = await write(`${pods}/p`);
      if (by === 'scheduler') expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
      expect(annotationsOf(await api.call('GET', `${pods}/p`))).toEqual(before);
    }
  },
);

it('status, scale and finalize bring no annotation of ours to what has none', async () => {
  await create(deployments, deployment('web'));
  await put(`${deployments}/web`, 'status');
  await api.call('PATCH', `${deployments}/web/scale`, {
    spec: { replicas: 2 },
    metadata: { annotations: forged },
  });
  expect(annotationsOf(await api.call('GET', `${deployments}/web`))).toEqual({});
  await put('/api/v1/namespaces/default', 'status');
  await put('/api/v1/namespaces/default', 'finalize');
  expect(annotationsOf(await api.call('GET', '/api/v1/namespaces/default'))).toEqual({});
});

const { [clusters]: _mars, ...marks } = forged;

it.each([
  ['a create', () => create(pods, pod('p', marks))],
  [
    'a create with generateName',
    () => create(pods, { ...pod('p'), metadata: { generateName: 'p-', annotations: marks } }),
  ],
  [
    'a PUT that creates',
    () =>
      api.call('PUT', '/api/v1/namespaces/default/endpoints/p', {
        ...pod('p', marks),
        kind: 'Endpoints',
        spec: undefined,
      }),
  ],
  [
    'an apply that creates',
    () =>
      api.call('PATCH', `${pods}/p?fieldManager=m`, pod('p', marks), { 'content-type': patchTypes.apply }),
  ],
  [
    'a cluster-scoped create',
    () =>
      create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'c', annotations: marks },
      }),
  ],
])('the marks in %s are dropped', async (_, write) => {
  const reply = await write();
  expect(reply.status).toBe(201);
  expect(annotationsOf(reply)).toEqual({});
});

it.each(Object.entries(patchTypes))(
  'a %s patch neither writes nor removes a mark',
  async (type, contentType) => {
    await create(pods, pod('p', { note: 'n' }));
    await placed(pods, 'p', 'scheduler');
    const of = (annotations: object) =>
      type === 'json'
        ? Object.entries(annotations).map(([key, value]) => ({
            op: 'add',
            path: `/metadata/annotations/${key.replace('/', '~1')}`,
            value,
          }))
        : { apiVersion: 'v1', kind: 'Pod', metadata: { annotations } };
    const query = type === 'apply' ? '?fieldManager=m&force=true' : '';
    const headers = { 'content-type': contentType };
    const reply = await api.call('PATCH', `${pods}/p${query}`, of({ ...marks, mine: 'm' }), headers);
    expect(annotationsOf(reply)).toEqual({
      [clusters]: 'east',
      [placedBy]: scheduler.name,
      note: 'n',
      mine: 'm',
    });
    const removed = await api.call('PATCH', `${pods}/p`, { metadata: { annotations: { [placedBy]: null } } });
    expect(annotationsOf(removed)).toEqual(annotationsOf(reply));
  },
);

it('a user may not place into a namespace of the system, nor the credentials of a cluster', async () => {
  const refused = async (reply: Promise<Reply>) => {
    const { status, body } = await reply;
    expect(status).toBe(422);
    return body.details.causes[0];
  };
  const field = 'metadata.annotations[atoll.dev/clusters]';
  const why = (name: string) => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: namespace ${name} belongs to the system: nothing in it runs on physical clusters`,
    field,
  });
  const east = { metadata: { annotations: { [clusters]: 'east' } } };
  for (const name of ['kube-system', 'atoll-system']) {
    expect(await refused(api.call('PATCH', `/api/v1/namespaces/${name}`, east))).toEqual(why(name));
    const url = `/api/v1/namespaces/${name}/pods`;
    expect(await refused(api.call('POST', url, pod('p', east.metadata.annotations)))).toEqual(why(name));
  }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kubeconfig' } };
  await create('/api/v1/namespaces/default/secrets', secret);
  expect(await refused(api.call('PATCH', '/api/v1/namespaces/default/secrets/kubeconfig', east))).toEqual({
    reason: 'FieldValueForbidden',
    message: 'Forbidden: it holds the credentials of PhysicalCluster west, which are never placed',
    field,
  });
});

const east = { [clusters]: 'east' };
const written = { ...east, [placedBy]: scheduler.name };
const lastApplied = (annotations: object) => ({
  'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ metadata: { annotations } }),
});
const within = (annotations: object) => ({ metadata: { annotations } });

it.each<[string, keyof typeof patchTypes, unknown, string]>([
  ['kubectl annotate', 'merge', within(east), 'mine'],
  ['kubectl apply', 'strategic', within(lastApplied({ note: 'n', ...east })), 'mine'],
  ['kubectl apply --server-side', 'apply', { apiVersion: 'v1', kind: 'Pod', ...within(east) }, 'mine'],
  [
    'a JSON patch of it',
    'json',
    [{ op: 'replace', path: `/metadata/annotations/${clusters.replace('/', '~1')}`, value: 'east' }],
    'mine',
  ],
  ['a JSON patch of all', 'json', [{ op: 'add', path: '/metadata/annotations', value: east }], 'mine'],
  ['an apply of a copy', 'strategic', within(lastApplied(written)), scheduler.name],
  [
    'a server-side apply of a copy',
    'apply',
    { apiVersion: 'v1', kind: 'Pod', ...within(written) },
    scheduler.name,
  ],
  [
    'an apply of what is broken',
    'strategic',
    within({ 'kubectl.kubernetes.io/last-applied-configuration': `{${clusters}` }),
    scheduler.name,
  ],
  [
    'a test of it',
    'json',
    [{ op: 'test', path: `/metadata/annotations/${clusters.replace('/', '~1')}`, value: 'east' }],
    scheduler.name,
  ],
  ['a change of something else', 'merge', within({ note: 'm' }), scheduler.name],
])('%s where the scheduler put it: whose the choice is then', async (_, dialect, body, author) => {
  await create(pods, pod('p'));
  await placed(pods, 'p', 'scheduler');
  const mine = api.server.transport({ name: 'mine', groups: ['system:masters'] });
  const query = dialect === 'apply' ? '?fieldManager=m&force=true' : '';
  const headers = { 'content-type': patchTypes[dialect] };
  const reply = await call(mine, 'PATCH', `${pods}/p${query}`, body, headers);
  expect([reply.status, annotationsOf(reply)[clusters], annotationsOf(reply)[placedBy]]).toEqual([
    200,
    'east',
    author,
  ]);
});

it.each([
  ['of what was read', (annotations: object) => annotations, scheduler.name],
  ['of a manifest that says so', () => east, 'mine'],
  ['of a manifest that says nothing', () => ({}), scheduler.name],
])('a replace %s where the scheduler put it: whose the choice is then', async (_, annotations, author) => {
  await create(pods, pod('p'));
  await placed(pods, 'p', 'scheduler');
  const { body } = await api.call('GET', `${pods}/p`);
  const metadata = { ...body.metadata, annotations: annotations(body.metadata.annotations ?? {}) };
  const mine = api.server.transport({ name: 'mine', groups: ['system:masters'] });
  const reply = await call(mine, 'PUT', `${pods}/p`, { ...body, metadata });
  expect([annotationsOf(reply)[clusters], annotationsOf(reply)[placedBy]]).toEqual(['east', author]);
});

it('what the scheduler said of another object is no wish of whoever makes a copy of it', async () => {
  await create(pods, pod('p'));
  await placed(pods, 'p', 'scheduler');
  const { body } = await api.call('GET', `${pods}/p`);
  const copy = pod('q', annotationsOf({ body } as Reply));
  const made = await create(pods, copy);
  expect(annotationsOf(made)).toEqual({ note: 'n' });
  expect([made.headers['warning']].flat().join()).toContain('was the scheduler');
  const mine = await create(pods, pod('r', { [clusters]: 'east' }));
  expect(annotationsOf(mine)).toEqual({ [clusters]: 'east', [placedBy]: 'admin' });
});

it('takes the verb place on each cluster that is named, of whoever is no administrator', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['create', 'patch'] },
    { apiGroups: ['atoll.dev'], resources: ['physicalclusters'], resourceNames: ['east'], verbs: ['place'] },
  ];
  await create(`${rbac}/roles`, { metadata: { name: 'dev' }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'dev' };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dev' }];
  await create(`${rbac}/rolebindings`, { metadata: { name: 'dev' }, roleRef, subjects });
  const dev = api.server.transport({ name: 'dev', groups: ['system:authenticated'] });
  const make = async (name: string, value?: string) => {
    const { status, body } = await call(
      dev,
      'POST',
      pods,
      pod(name, value === undefined ? value : { [clusters]: value }),
    );
    return [status, status === 403 ? body.message : annotationsOf({ body } as Reply)[placedBy]];
  };
  const refused = (of: string, name: string) =>
    `pods "${of}" is forbidden: User "dev" cannot place on physicalclusters.atoll.dev/${name} in the namespace "default": ` +
    'the annotation atoll.dev/clusters needs the verb "place" on resource "physicalclusters" in API group "atoll.dev" ' +
    `named "${name}"; ask for a role with it, or leave the choice to the scheduler`;
  expect(await make('a')).toEqual([201, undefined]);
  expect(await make('b', 'east')).toEqual([201, 'dev']);
  expect(await make('c', 'east,west')).toEqual([403, refused('c', 'west')]);
  // Nor do they learn which there are.
  expect(await make('d', 'mars')).toEqual([403, refused('d', 'mars')]);
  const patch = async (value: string | null) =>
    (await call(dev, 'PATCH', `${pods}/b`, { metadata: { annotations: { [clusters]: value } } })).status;
  expect([await patch('west'), await patch('east'), await patch(null)]).toEqual([403, 200, 200]);
});

const where = 'metadata.annotations[atoll.dev/clusters]';
const labelled = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
const overflow = 'atoll.dev/overflow';
const ofClaims = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] };
const web = (annotations: object, podSpec: object = {}) => {
  const made = deployment(`w${Object.keys(annotations).length}${Object.keys(podSpec).length}`);
  const { template } = made.spec;
  const spec = { ...made.spec, template: { ...template, spec: { ...template.spec, ...podSpec } } };
  return { ...made, metadata: { ...made.metadata, annotations }, spec };
};
it.each<[string, string, object, string[]]>([
  ['plain', pods, pod('p', { [clusters]: 'east,west' }), []],
  [
    'empty',
    pods,
    pod('p', { [clusters]: ' ' }),
    [`${where}: it names no physical cluster, which is as if it were absent`],
  ],
  ['doubled', pods, pod('p', { [clusters]: 'east,east' }), [`${where}: east is named more than once`]],
  ['a gap', pods, pod('p', { [clusters]: 'east,,west' }), [`${where}: a name between two commas is missing`]],
  [
    'spaces',
    pods,
    pod('p', { [clusters]: 'east, west' }),
    [`${where}: spaces around a name are no part of it`],
  ],
  [
    'misspelt',
    pods,
    pod('p', { 'atoll.dev/cluster': 'east' }),
    ['metadata.annotations[atoll.dev/cluster]: it has no effect; did you mean atoll.dev/clusters?'],
  ],
  [
    'misspelt, of another',
    pods,
    pod('p', { 'atoll.dev/overflows': 'true' }),
    ['metadata.annotations[atoll.dev/overflows]: it has no effect; did you mean atoll.dev/overflow?'],
  ],
  [
    'misspelt so often that not all of it is told',
    pods,
    pod(
      'p',
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`atoll.dev/cluster${10 + i}`, 'east'])),
    ),
    Array.from(
      { length: 10 },
      (_, i) =>
        `metadata.annotations[atoll.dev/cluster${10 + i}]: it has no effect; did you mean atoll.dev/clusters?`,
    ),
  ],
  ['of ours that nobody needs to know', pods, pod('p', { 'atoll.dev/team': 'shop' }), []],
  [
    'overflow of what has no replicas',
    pods,
    pod('p', { [overflow]: 'true' }),
    [
      `metadata.annotations[${overflow}]: it has no effect on a Pod: what has replicas overflows, but no ordinals`,
    ],
  ],
  [
    'a spread over a label that nobody has',
    '/api/v1/namespaces',
    namespace('spread', { 'atoll.dev/spread': 'regon us=1' }),
    ['metadata.annotations[atoll.dev/spread]: no physical cluster has the label regon yet'],
  ],
  ['a spread over clusters', pods, pod('p', { 'atoll.dev/spread': 'cluster east=1,west=2' }), []],
  [
    'a policy about what there is none of',
    '/apis/atoll.dev/v1alpha1/namespaces/default/placementpolicies',
    {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PlacementPolicy',
      metadata: { name: 'typed' },
      spec: { clusters: { exclude: ['est'], expression: 'cluster.name == "est"' } },
    },
    [
      'spec.clusters.exclude: no physical cluster is named est yet',
      'spec.clusters.expression: it is true of no physical cluster yet',
    ],
  ],
  ['overflow that is not wanted', pods, pod('p', { [overflow]: 'false' }), []],
  ['overflow of what has replicas', deployments, web({ [overflow]: 'true' }), []],
  [
    'overflow beside a spread',
    deployments,
    web({ [overflow]: 'true', 'atoll.dev/spread': 'cluster' }),
    [
      `metadata.annotations[${overflow}]: it has no effect beside atoll.dev/spread, which says how many are where`,
    ],
  ],
  [
    'a spread over a label that no cluster has',
    deployments,
    web({ 'atoll.dev/spread': 'regon us=1' }),
    ['metadata.annotations[atoll.dev/spread]: no physical cluster has the label regon yet'],
  ],
  [
    'overflow of what has claims',
    deployments,
    web({ [overflow]: 'true' }, ofClaims),
    [
      `metadata.annotations[${overflow}]: it has no effect on what has claims: on two clusters each would be two volumes`,
    ],
  ],
  [
    'a label',
    pods,
    { ...pod('p'), metadata: { name: 'p', labels: { [clusters]: 'east' } } },
    [
      'metadata.labels[atoll.dev/clusters]: it has no effect; where to run is the annotation atoll.dev/clusters',
    ],
  ],
  [
    'a kind that runs nowhere',
    '/api/v1/namespaces/default/podtemplates',
    {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 't', annotations: { [clusters]: 'east' } },
      template: { spec: pod('p').spec },
    },
    [`${where}: it has no effect: a PodTemplate does not run on physical clusters`],
  ],
  [
    'on the pods of a Deployment',
    deployments,
    withTemplate({ [clusters]: 'east' }),
    [
      'spec.template.metadata.annotations[atoll.dev/clusters]: it has no effect on the pods of a Deployment; annotate the Deployment itself',
    ],
  ],
  [
    'a level of pod security that lifts something',
    '/api/v1/namespaces',
    labelled('p1', { 'pod-security.kubernetes.io/enforce': 'baseline', app: 'x' }),
    [
      'metadata.labels[pod-security.kubernetes.io/enforce]: baseline counts on physical clusters only where their administrator lets it in',
    ],
  ],
  [
    'more labels than are carried',
    '/api/v1/namespaces',
    labelled('p2', {
      ...Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${100 + i}`, 'x'])),
      'pod-security.kubernetes.io/enforce': 'restricted',
    }),
    ['metadata.labels: physical namespaces bear 64 of them; not these: l163, l164'],
  ],
  [
    'a workload of the system',
    '/api/v1/namespaces/kube-system/pods',
    pod('p'),
    ['namespace kube-system belongs to the system: nothing in it runs on physical clusters'],
  ],
  ['not a workload', '/api/v1/namespaces/kube-system/configmaps', configMap('c'), []],
])('warns of what is hardly meant: %s', async (_, url, object, warnings) => {
  const { headers, body } = await create(url, object);
  const said = [headers['warning'] ?? []].flat().map((text) => text.replace(/^299 - "(.*)"$/, '$1'));
  expect(said).toEqual(warnings);
  // What was there before is not told again.
  const again = await api.call('PATCH', `${url}/${body.metadata.name}`, {
    metadata: { annotations: { more: 'm' } },
  });
  expect(again.headers['warning']).toBeUndefined();
});

const named = (name: string, externalName: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'ExternalName', externalName },
});
it('warns of an ExternalName by what its Namespace is called on physical clusters', async () => {
  const { body: back } = await create('/api/v1/namespaces', namespace('back'));
  const there = physicalNamespace('root', 'back', back.metadata.uid);
  const services = '/api/v1/namespaces/default/services';
  const { headers } = await create(services, named('api', 'db-0.api.back.svc.cluster.local'));
  expect([headers['warning']].flat()).toEqual([
    `299 - "spec.externalName: on physical clusters it leads nowhere: Namespace back is called ${there} there; db-0.api.${there}.svc.cluster.local leads to it"`,
  ]);
  const again = await api.call('PATCH', `${services}/api`, { metadata: { annotations: { more: 'm' } } });
  expect(again).toMatchObject({ status: 200 });
  expect(again.headers['warning']).toBeUndefined();
  const names = [
    'api.example.com',
    `api.${there}.svc.cluster.local`,
    'dns.kube-system.svc',
    'api.none.svc',
    'svc',
  ];
  for (const [i, name] of names.entries()) {
    const { headers } = await create(services, named(`n${i}`, name));
    expect(headers['warning'], name).toBeUndefined();
  }
});

it('says of an ExternalName nothing of a Namespace that whoever writes it may not know', async () => {
  await create('/api/v1/namespaces', namespace('back'));
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces';
  const edits = (where: string, name: string) =>
    create(`${rbac}/${where}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }],
    });
  await edits('default', 'dev');
  const dev = api.server.transport({ name: 'dev', groups: ['system:authenticated'] });
  const warned = async (name: string) => {
    const service = named(name, 'api.back.svc');
    const { status, headers } = await call(dev, 'POST', '/api/v1/namespaces/default/services', service);
    return [status, headers['warning'] !== undefined];
  };
  expect(await warned('a')).toEqual([201, false]);
  await edits('back', 'dev');
  expect(await warned('b')).toEqual([201, true]);
});

it('what is no level of pod security is refused, and not warned of', async () => {
  for (const label of ['enforce', 'warn-version']) {
    const labels = { [`pod-security.kubernetes.io/${label}`]: 'restrictd' };
    const { headers, body } = await api.call('POST', '/api/v1/namespaces', labelled('p3', labels));
    expect(body).toMatchObject({ code: 422 });
    expect(headers['warning']).toBeUndefined();
  }
});

function withTemplate(annotations: object) {
  const object = deployment('web');
  const { template } = object.spec;
  const metadata = { ...template.metadata, annotations };
  return { ...object, spec: { ...object.spec, template: { ...template, metadata } } };
}
