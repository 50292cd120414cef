import { bootstrapFlows, flowResources } from '../../../kube/flow/bootstrap.ts';
import type { Answer, Case, Names, Request, Step } from '../case.ts';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const schemas = `${group}/flowschemas`;
const levels = `${group}/prioritylevelconfigurations`;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** FlowSchemas, priority levels, and what answers say of them. */
export function flowsCases(): Case[] {
  return [...bootstrap(), ...refused(), ...kept(), ...status(), headers()];
}

function flowCase(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `flow/${id}`, area: 'flow', steps };
}

const post = (path: string, body: object): Request => ({ method: 'POST', path, body });
const get = (path: string): Request => ({ method: 'GET', path });
const remove = (path: string): Request => ({ method: 'DELETE', path });
const dry = (request: Request): Request => ({ ...request, path: `${request.path}?dryRun=All` });
const patch = (path: string, body: object): Request => ({
  method: 'PATCH',
  path,
  contentType: 'application/merge-patch+json',
  body,
});

const later = { spec: { matchingPrecedence: 9999 } };
const lends = (name: string) => ({
  spec: { [name === 'exempt' ? 'exempt' : 'limited']: { lendablePercent: 7 } },
});

function bootstrap(): Case[] {
  return flowResources.flatMap((resource) =>
    bootstrapFlows(resource).map(({ metadata: { name = '' } }) =>
      flowCase(`bootstrap/${resource}/${name}`, () => [
        get(`${group}/${resource}/${name}`),
        { ...get(`${group}/${resource}/${name}`), accept: table },
        get(`${group}/${resource}/${name}/status`),
        dry(post(`${group}/${resource}`, { metadata: { name } })),
        dry(remove(`${group}/${resource}/${name}`)),
        dry(patch(`${group}/${resource}/${name}`, resource === 'flowschemas' ? later : lends(name))),
      ]),
    ),
  );
}

const everyVerb = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
const ann = { kind: 'User', user: { name: 'ann' } };
const rule = { subjects: [ann], resourceRules: [everyVerb] };

function schema(spec: object = {}): object {
  return { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 500, rules: [rule], ...spec };
}

const subject = (one: object) => schema({ rules: [{ ...rule, subjects: [one] }] });
const resource = (one: object) =>
  schema({ rules: [{ subjects: [ann], resourceRules: [{ ...everyVerb, ...one }] }] });
const url = (nonResourceURLs: string[], verbs = ['get']) =>
  schema({ rules: [{ subjects: [ann], nonResourceRules: [{ verbs, nonResourceURLs }] }] });

const wrongSchemas: object[] = [
  {},
  schema({ matchingPrecedence: 0 }),
  schema({ matchingPrecedence: -1 }),
  schema({ matchingPrecedence: 1 }),
  schema({ matchingPrecedence: 10_000 }),
  schema({ matchingPrecedence: 10_001 }),
  schema({ priorityLevelConfiguration: { name: '' } }),
  schema({ priorityLevelConfiguration: { name: 'No_Name' } }),
  schema({ distinguisherMethod: { type: 'ByUser' } }),
  schema({ distinguisherMethod: { type: 'ByColour' } }),
  schema({ rules: [] }),
  schema({ rules: [{}] }),
  schema({ rules: [{ subjects: [ann] }] }),
  schema({ rules: [{ resourceRules: [everyVerb] }] }),
  subject({ kind: 'User' }),
  subject({ kind: 'User', user: { name: '' } }),
  subject({ kind: 'User', user: { name: '*' } }),
  subject({ kind: 'User', group: { name: 'a' } }),
  subject({ kind: 'Group', group: { name: '*' } }),
  subject({ kind: 'Group' }),
  subject({ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'a' } }),
  subject({ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: 'b' } }),
  subject({ kind: 'ServiceAccount', serviceAccount: { name: 'a' } }),
  subject({ kind: 'ServiceAccount', serviceAccount: { name: 'a', namespace: 'B.c' } }),
  subject({ kind: 'Robot' }),
  resource({ verbs: [] }),
  resource({ verbs: ['*', 'get'] }),
  resource({ verbs: ['brew'] }),
  resource({ verbs: ['get', 'proxy'] }),
  resource({ apiGroups: [] }),
  resource({ apiGroups: ['*', 'apps'] }),
  resource({ apiGroups: ['apps', ''] }),
  resource({ resources: [] }),
  resource({ resources: ['*', 'pods'] }),
  resource({ resources: ['pods/log'] }),
  resource({ namespaces: [] }),
  resource({ namespaces: [], clusterScope: true }),
  resource({ namespaces: ['*', 'a'] }),
  resource({ namespaces: ['A', 'b.c'] }),
  url([]),
  url(['*']),
  url(['*', '/a']),
  url(['']),
  url(['a']),
  url(['/a b']),
  url(['/a//b']),
  url(['/a/*', '/']),
  url(['/a*', '/a/*/b']),
  url(['/a'], ['*', 'get']),
  url(['/a'], []),
];

const queuing = { queues: 64, handSize: 6, queueLengthLimit: 50 };
const limited = (one: object) => ({ type: 'Limited', limited: one });
const queue = (one: object) => limited({ limitResponse: { type: 'Queue', queuing: { ...queuing, ...one } } });

const levelSpecs: object[] = [
  {},
  { type: 'Exempt' },
  { type: 'Exempt', exempt: {} },
  { type: 'Limited' },
  { type: 'Unlimited' },
  { type: 'Limited', limited: { limitResponse: { type: 'Reject' } }, exempt: {} },
  limited({}),
  limited({ limitResponse: { type: 'Drop' } }),
  limited({ limitResponse: { type: 'Queue' } }),
  limited({ limitResponse: { type: 'Reject' } }),
  limited({ limitResponse: { type: 'Reject', queuing } }),
  limited({ limitResponse: { type: 'Reject' }, nominalConcurrencyShares: 0 }),
  limited({ limitResponse: { type: 'Reject' }, nominalConcurrencyShares: -1 }),
  limited({ limitResponse: { type: 'Reject' }, lendablePercent: 101 }),
  limited({ limitResponse: { type: 'Reject' }, lendablePercent: -1 }),
  limited({ limitResponse: { type: 'Reject' }, borrowingLimitPercent: 400 }),
  limited({ limitResponse: { type: 'Reject' }, borrowingLimitPercent: -1 }),
  limited({ limitResponse: { type: 'Queue', queuing: {} } }),
  queue({}),
  queue({ queues: 0 }),
  queue({ queues: -1 }),
  queue({ queues: 10_000_001 }),
  queue({ queues: 1, handSize: 1 }),
  queue({ handSize: 0 }),
  queue({ handSize: -1 }),
  queue({ handSize: 65 }),
  queue({ queues: 1024, handSize: 7 }),
  queue({ queueLengthLimit: 0 }),
  queue({ queueLengthLimit: -1 }),
];

function refused(): Case[] {
  const each = (path: string, what: string, specs: readonly object[]) =>
    specs.map((spec, i) =>
      flowCase(`${what}/${i}`, ({ name }) => [dry(post(path, { metadata: { name }, spec }))]),
    );
  return [...each(schemas, 'schema', wrongSchemas), ...each(levels, 'level', levelSpecs)];
}

/** What is stored, changed and deleted. */
function kept(): Case[] {
  return [
    flowCase('kept/level', ({ name }) => [
      post(levels, { metadata: { name }, spec: limited({ limitResponse: { type: 'Queue', queuing: {} } }) }),
      get(`${levels}/${name}`),
      patch(`${levels}/${name}`, { spec: { limited: { nominalConcurrencyShares: 3, lendablePercent: 50 } } }),
      patch(`${levels}/${name}`, { spec: { limited: { limitResponse: { type: 'Reject' } } } }),
      patch(`${levels}/${name}`, { spec: { limited: { limitResponse: { type: 'Reject', queuing: null } } } }),
      patch(`${levels}/${name}/status`, { status: { conditions: [{ type: 'A', status: 'True' }] } }),
      { ...get(`${levels}/${name}`), accept: table },
      remove(`${levels}/${name}`),
      get(`${levels}/${name}`),
    ]),
    flowCase('kept/schema', ({ name }) => [
      post(schemas, { metadata: { name }, spec: { ...schema(), matchingPrecedence: 0 } }),
      post(schemas, { metadata: { name: `${name}-b` }, spec: schema({ matchingPrecedence: 900 }) }),
      patch(`${schemas}/${name}-b`, {
        spec: { matchingPrecedence: 901, distinguisherMethod: { type: 'ByNamespace' } },
      }),
      patch(`${schemas}/${name}-b`, { spec: { matchingPrecedence: 1 } }),
      { ...get(`${schemas}/${name}-b`), accept: table },
      remove(`${schemas}/${name}-b`),
      get(`${schemas}/${name}-b`),
    ]),
  ];
}

function status(): Case[] {
  const says = (state: string) => (answer: Answer) => answer.body.includes(`"status":"${state}"`);
  return [
    flowCase('status', ({ name }) => {
      const one = `${schemas}/${name}`;
      const level = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };
      return [
        post(schemas, { metadata: { name }, spec: schema({ priorityLevelConfiguration: { name } }) }),
        { ...get(one), until: says('True') },
        { ...get(one), accept: table },
        post(levels, { metadata: { name }, spec: level }),
        { ...get(one), until: says('False') },
        patch(one, { spec: { priorityLevelConfiguration: { name: `${name}-x` } } }),
        { ...get(one), until: says('True') },
        patch(one, { spec: { priorityLevelConfiguration: { name } } }),
        { ...get(one), until: says('False') },
        remove(`${levels}/${name}`),
        { ...get(one), until: says('True') },
        remove(one),
      ];
    }),
  ];
}

/** That both headers are there, or neither. */
function headers(): Case {
  const configMaps = '/api/v1/namespaces/default/configmaps';
  return flowCase('headers', () => [
    get('/version'),
    get('/healthz'),
    get('/api'),
    get('/apis/apps/v1'),
    get('/nothing'),
    get('/apis/nothing.example.com/v1/things'),
    get(`${configMaps}/nothing`),
    { method: 'HEAD', path: `${configMaps}/nothing` },
    get(`${configMaps}?limit=x`),
    { ...get(`${configMaps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dnothing`), watch: true },
    dry(post(configMaps, { metadata: { name: 'a' } })),
    { ...post(configMaps, {}), body: 'not json' },
    { ...get(configMaps), bare: true, headers: { authorization: 'Bearer nobody' } },
    { ...get(configMaps), headers: { 'impersonate-user': 'ann' } },
    get('/api/v1/namespaces/default/pods/nothing/log'),
    post('/api/v1/namespaces/default/pods/nothing/exec?command=a', {}),
    get('/api/v1/namespaces/default/services/nothing/proxy/'),
  ]);
}
