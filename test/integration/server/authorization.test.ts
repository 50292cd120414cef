import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { controllersUser } from '../../../cluster/names.ts';
import type { Policy } from '../../../kube/audit/types.ts';
import type { UserInfo } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { encodeYaml } from '../../../kube/yaml.ts';
import { loadAuthorization } from '../../../server/authorization/load.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { eventually } from '../../eventually.ts';
import { type Api, call, startApi } from '../apiserver/api.ts';
import { clusterExtra, type Decider, startDecider } from './decider.ts';

const ann: UserInfo = { name: 'ann', groups: ['system:authenticated'] };
const rbacGroup = 'rbac.authorization.k8s.io';
const pods = '/api/v1/namespaces/default/pods';
const rbac = { type: 'RBAC', name: 'rbac' };

let directory: string;
let decider: Decider;
let api: Api;
let stop: AbortController;
const configured = () => join(directory, 'authorization.yaml');
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-authorization-'));
  stop = new AbortController();
  decider = await startDecider();
  await writeFile(join(directory, 'decider.kubeconfig'), decider.kubeconfig);
});
afterEach(async () => {
  stop.abort();
  await api?.close();
  await decider.close().catch(() => undefined);
  await rm(directory, { recursive: true });
});

const webhook = (more: object = {}) => ({
  type: 'Webhook',
  name: 'policy',
  webhook: {
    timeout: '30s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(directory, 'decider.kubeconfig') },
    ...more,
  },
});
const write = (...authorizers: object[]) =>
  writeFile(
    configured(),
    encodeYaml({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers,
    }),
  );
const load = () =>
  loadAuthorization(
    {
      settings: resolveSettings({ dataDir: directory, authorizationConfig: configured() }, undefined, {}),
      files: new TakenFiles(),
      signal: stop.signal,
      logger: silentLogger,
    },
    10,
  );

let events: string[];
async function start(...authorizers: object[]): Promise<void> {
  await write(...authorizers);
  const made = await load();
  events = [];
  const policy: Policy = { rules: [{ level: 'Metadata', users: ['ann'] }], omitStages: ['RequestReceived'] };
  const audit = { policy, write: (line: string) => void events.push(line) };
  api = startApi({ audit, ...(made && { authorizers: made }) });
}

const as = (user: UserInfo, method: string, url: string, body?: object) =>
  call(api.server.transport(user), method, url, body);
const gets = async (url = pods, user = ann) => {
  const { status, body } = await as(user, 'GET', url);
  return [status, body.message];
};
const bind = (role: string, name = 'ann', where = '') =>
  api.call('POST', `${where}/apis/${rbacGroup}/v1/clusterrolebindings`, {
    metadata: { name: `${role}-${name}` },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbacGroup, kind: 'User', name }],
  });
const forbidden =
  'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "default"';
const failed = 'Internal error occurred: webhook authorizer "policy" gave no answer';

describe('a webhook and RBAC', () => {
  test.each<[string, object, [number, string | undefined]]>([
    ['allows what no role does', { allowed: true }, [200, undefined]],
    ['has no opinion', { reason: 'who is that?' }, [403, `${forbidden}: who is that?`]],
    ['denies', { denied: true, reason: 'never' }, [403, `${forbidden}: never`]],
  ])('one that %s', async (_what, status, expected) => {
    await start(webhook(), rbac);
    decider.decide = () => status;
    expect(await gets()).toEqual(expected);
  });

  test.each<[string, object, number]>([
    ['no opinion leaves it to RBAC', {}, 200],
    ['a denial does not', { denied: true }, 403],
  ])('%s', async (_what, status, code) => {
    await start(webhook(), rbac);
    await bind('view');
    decider.decide = () => status;
    expect((await gets())[0]).toBe(code);
  });

  test('asked after RBAC, it hears of what no role allows', async () => {
    await start(rbac, webhook());
    await bind('view');
    decider.decide = () => ({ denied: true });
    expect((await gets())[0]).toBe(200);
    expect(decider.asked).toEqual([]);
    expect((await gets('/api/v1/namespaces/default/secrets'))[0]).toBe(403);
    expect(decider.asked).toHaveLength(1);
  });

  test('it is told what a list leaves out', async () => {
    await start(webhook(), rbac);
    decider.decide = () => ({ allowed: true });
    await gets(`${pods}?fieldSelector=spec.nodeName%3Dn1&labelSelector=a`);
    expect(decider.asked[0].resourceAttributes).toEqual({
      namespace: 'default',
      verb: 'list',
      version: 'v1',
      resource: 'pods',
      fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
      labelSelector: { requirements: [{ key: 'a', operator: 'Exists' }] },
    });
  });
});

describe('it is not asked', () => {
  test.each<[string, UserInfo, string, number]>([
    ['about an administrator', { name: 'admin', groups: ['system:masters'] }, pods, 200],
    ['about our own controllers', ownUser(controllersUser), pods, 200],
    ['about health', ann, '/readyz', 200],
    ['about all logical clusters', ann, '/clusters/*/api/v1/pods', 403],
    ['about one that is not there', ann, `/clusters/root:none${pods}`, 403],
    [
      'about whoever is of another one',
      { ...ann, extra: { 'authentication.kcp.io/scopes': ['cluster:another'] } },
      pods,
      403,
    ],
    [
      "about another's ServiceAccount",
      {
        name: 'system:serviceaccount:default:default',
        groups: ['system:serviceaccounts'],
        extra: { 'authentication.kcp.io/cluster-name': ['another'] },
      },
      pods,
      403,
    ],
  ])('%s', async (_what, user, url, status) => {
    await start(webhook());
    decider.decide = () => ({ allowed: true });
    expect((await gets(url, user))[0]).toBe(status);
    expect(decider.asked).toEqual([]);
  });

  test('where a condition does not hold, or fails', async () => {
    const matchConditions = [
      { expression: "has(request.resourceAttributes) && request.resourceAttributes.resource == 'pods'" },
    ];
    await start(webhook({ matchConditions }), rbac);
    decider.decide = () => ({ allowed: true });
    expect((await gets('/api/v1/namespaces/default/secrets'))[0]).toBe(403);
    expect(decider.asked).toEqual([]);
    expect((await gets())[0]).toBe(200);
  });
});

describe('one that fails', () => {
  const ways: [string, () => unknown][] = [
    ['is down', () => decider.close()],
    ['says 403', () => (decider.decide = () => 403)],
    ['answers nonsense', () => (decider.decide = () => 'nonsense')],
    ['does not answer in time', () => (decider.decide = () => 'never')],
  ];
  const timeout = '200ms';

  test.each(ways)('%s: NoOpinion leaves it to RBAC', async (_what, fail) => {
    await start(webhook({ timeout }), rbac);
    await fail();
    expect(await gets()).toEqual([500, failed]);
    await bind('view');
    expect((await gets())[0]).toBe(200);
  });

  test.each(ways)('%s: Deny does not', async (_what, fail) => {
    await start(webhook({ timeout, failurePolicy: 'Deny' }), rbac);
    await bind('view');
    await fail();
    expect(await gets()).toEqual([500, failed]);
  });

  test.each<['NoOpinion' | 'Deny', number]>([
    ['NoOpinion', 200],
    ['Deny', 500],
  ])('a condition that fails: %s', async (failurePolicy, status) => {
    await start(
      webhook({ failurePolicy, matchConditions: [{ expression: "request.extra['x'] == ['y']" }] }),
      rbac,
    );
    await bind('view');
    expect((await gets())[0]).toBe(status);
    expect(decider.asked).toEqual([]);
  });
});

test.each<[object | number, object]>([
  [
    { allowed: true, reason: 'yes' },
    { decision: 'allow', reason: 'yes' },
  ],
  [
    { denied: true, reason: 'never' },
    { decision: 'forbid', reason: 'never' },
  ],
  [403, { reason: 'internal error' }],
])('an event tells what was decided: %j', async (status, expected) => {
  await start(webhook());
  decider.decide = () => status;
  await gets();
  const { annotations } = JSON.parse(events[0] ?? '');
  const told = Object.entries(annotations).map(([key, value]) => [key.split('/')[1], value]);
  expect(Object.fromEntries(told)).toEqual({ ...expected, 'logical-cluster': 'root' });
});

describe('in logical clusters', () => {
  test('it hears in which, and an answer counts in that alone', async () => {
    await start(webhook(), rbac);
    const [a, b] = [await api.addCluster('root:a'), await api.addCluster('root:b')];
    decider.decide = ({ extra }) => ({ allowed: extra[clusterExtra][0] === a });
    for (let i = 0; i < 2; i++) {
      expect((await gets(`/clusters/root:a${pods}`))[0]).toBe(200);
      expect((await gets(`/clusters/${a}${pods}`))[0]).toBe(200);
      expect((await gets(`/clusters/root:b${pods}`))[0]).toBe(403);
      expect((await gets())[0]).toBe(403);
    }
    expect(decider.asked.map(({ extra }) => extra[clusterExtra])).toEqual([[a], [b], ['root']]);
  });

  test('nobody says for which they ask', async () => {
    await start(webhook(), rbac);
    const b = await api.addCluster('root:b');
    decider.decide = ({ extra }) => ({ allowed: extra[clusterExtra][0] === 'root' });
    const eve = { ...ann, extra: { [clusterExtra]: ['root'] } };
    expect((await gets(`/clusters/${b}${pods}`, eve))[0]).toBe(403);
    expect(decider.asked[0].extra).toEqual({ [clusterExtra]: [b] });
  });
});

test('who may no longer is refused when the answer has been kept for its time', async () => {
  await start(webhook({ authorizedTTL: '1s' }), rbac);
  decider.decide = () => ({ allowed: true });
  expect((await gets())[0]).toBe(200);
  decider.decide = () => ({ reason: 'revoked' });
  await eventually(async () => expect(await gets()).toEqual([403, `${forbidden}: revoked`]));
  expect(decider.asked).toHaveLength(2);
});

describe('reviews', () => {
  const attributes = { verb: 'list', resource: 'pods', namespace: 'default' };
  const review = async (kind: string, spec: object) => {
    const url = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
    const asked = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
    return (await as(ann, 'POST', url, asked)).body.status;
  };

  test.each<[object | number, object]>([
    [
      { allowed: true, reason: 'yes' },
      { allowed: true, reason: 'yes' },
    ],
    [
      { denied: true, reason: 'never' },
      { allowed: false, denied: true, reason: 'never' },
    ],
    [{}, { allowed: false }],
    [403, { allowed: false, evaluationError: 'webhook authorizer "policy" gave no answer' }],
  ])('%j', async (status, expected) => {
    await start(webhook(), rbac);
    decider.decide = ({ resourceAttributes: of }) => (of.resource === 'pods' ? status : { allowed: true });
    expect(await review('SelfSubjectAccessReview', { resourceAttributes: attributes })).toEqual(expected);
    expect(await review('SubjectAccessReview', { resourceAttributes: attributes, user: 'bob' })).toEqual(
      expected,
    );
    const selected = { ...attributes, labelSelector: { rawSelector: 'a=b' } };
    await review('SelfSubjectAccessReview', { resourceAttributes: selected });
    expect(decider.asked.at(-1).resourceAttributes.labelSelector).toEqual({
      requirements: [{ key: 'a', operator: 'In', values: ['b'] }],
    });
  });

  test('of rules tell that there may be more', async () => {
    await start(rbac, webhook());
    await bind('view');
    const status = await review('SelfSubjectRulesReview', { namespace: 'default' });
    expect(status).toMatchObject({
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    });
    expect(status.resourceRules.length).toBeGreaterThan(3);
  });
});

test('who may escalate by the webhook may give what they have not; what it allows else is nothing to give', async () => {
  await start(webhook(), rbac);
  const roles = `/apis/${rbacGroup}/v1/clusterroles`;
  const role = (name: string) => ({
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  });
  decider.decide = ({ resourceAttributes: of }) => ({ allowed: of.verb !== 'escalate' });
  expect((await as(ann, 'POST', roles, role('one'))).status).toBe(403);
  expect(decider.asked.map(({ resourceAttributes: of }) => [of.verb, of.version])).toEqual([
    ['create', 'v1'],
    ['escalate', '*'],
  ]);
  decider.decide = () => ({ allowed: true });
  expect((await as({ ...ann, name: 'bob' }, 'POST', roles, role('two'))).status).toBe(201);
});

describe('the file', () => {
  test('is read again; one that cannot be meant changes nothing', async () => {
    await start(rbac);
    decider.decide = () => ({ allowed: true });
    expect((await gets())[0]).toBe(403);
    await write(rbac, webhook());
    await eventually(async () => expect((await gets())[0]).toBe(200));
    const asked = decider.asked.length;
    await write(webhook({ timeout: '31s' }), rbac);
    await write(webhook());
    await write({ type: 'AlwaysDeny', name: 'alwaysdeny' }, rbac);
    await eventually(async () => expect((await gets())[1]).toBe(`${forbidden}: Everything is forbidden.`));
    expect(decider.asked).toHaveLength(asked);
  });

  test.each<[string, () => object[], string]>([
    [
      'wrong',
      () => [webhook({ timeout: '31s' })],
      'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ],
    ['without RBAC', () => [webhook()], 'missing required types: [RBAC]'],
  ])('that is %s keeps the former', async (_what, next, message) => {
    const errors: unknown[] = [];
    await write(rbac, webhook());
    const settings = resolveSettings(
      { dataDir: directory, authorizationConfig: configured() },
      undefined,
      {},
    );
    const logger = { ...silentLogger, error: (values: unknown) => void errors.push(values) };
    const authorizers = await loadAuthorization(
      { settings, files: new TakenFiles(), signal: stop.signal, logger },
      10,
    );
    api = startApi({ ...(authorizers && { authorizers }) });
    decider.decide = () => ({ allowed: true });
    await write(...next());
    await eventually(() => expect(errors).toMatchObject([{ file: configured(), err: { message } }]));
    expect((await gets())[0]).toBe(200);
  });

  test.each<[string, () => object[] | undefined, string]>([
    ['that is wrong', () => [rbac, rbac], 'authorizers[1].type: Duplicate value: "RBAC"'],
    [
      'that names a kubeconfig that is not there',
      () => [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/none' } })],
      'Invalid value: "/none": error loading file: stat /none: no such file or directory',
    ],
    [
      'that names no kubeconfig',
      () => [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: configured() } })],
      'the kubeconfig has no current cluster',
    ],
    ['that is not there', () => undefined, 'no such file'],
  ])('%s is refused at the start', async (_what, authorizers, message) => {
    const given = authorizers();
    if (given) await write(...given);
    await expect(load()).rejects.toThrow(`--authorization-config ${configured()}: `);
    await expect(load()).rejects.toThrow(message);
  });
});
