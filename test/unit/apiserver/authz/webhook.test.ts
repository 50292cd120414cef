import { expect, test } from 'vitest';
import { chain } from '../../../../apiserver/authz/chain.ts';
import { webhookMode } from '../../../../apiserver/authz/webhook.ts';
import type { Attributes, AuthorizationMode, Decision } from '../../../../apiserver/plugins.ts';
import type { WebhookConfiguration } from '../../../../kube/authorization/types.ts';
import type { ApiResponse } from '../../../../kube/http.ts';

const user = { name: 'ann', groups: ['dev'], uid: '7', extra: { k: ['v'] } };
const pods: Attributes = {
  user,
  cluster: 'a',
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: '',
};
const configured: Omit<WebhookConfiguration, 'kubeConfigFile' | 'timeoutMs'> = {
  rememberMs: { allowed: 60_000, others: 5_000 },
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'NoOpinion',
  matchConditions: [],
};

function world(more: Partial<typeof configured> = {}) {
  const configuration = { ...configured, ...more };
  // biome-ignore lint/suspicious/noExplicitAny: read field by field.
  const asked: any[] = [];
  const pauses: number[] = [];
  const failures: unknown[] = [];
  const answers: (Partial<ApiResponse> | Error | object)[] = [];
  let time = 0;
  const mode = webhookMode({
    name: 'policy',
    configuration,
    transport: async ({ body }) => {
      const review = JSON.parse(Buffer.from(body ?? []).toString());
      asked.push(review);
      const said = answers.length > 1 ? answers.shift() : answers[0];
      if (said instanceof Error) throw said;
      if (said !== undefined && 'status' in said && typeof said.status === 'number')
        return { headers: {}, body: Buffer.from('no'), ...said } as ApiResponse;
      const answer = { kind: review.kind, apiVersion: review.apiVersion, status: said };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
    },
    failed: (error) => failures.push(error),
    now: () => time,
    pause: async (millis) => pauses.push(millis),
  });
  return {
    ask: (more: Partial<Attributes> = {}) => mode.authorize({ ...pods, ...more }),
    pass: (millis: number) => {
      time += millis;
    },
    asked,
    pauses,
    failures,
    answers,
    mode,
  };
}

test('it is asked who wants what, in which logical cluster, whatever the user says of that', async () => {
  const { ask, asked, answers } = world();
  answers.push({ allowed: true, reason: 'she may' });
  const extra = { k: ['v'], 'authorization.kubernetes.io/cluster-name': ['root'] };
  expect(await ask({ user: { ...user, extra } })).toEqual({ allowed: true, reason: 'she may' });
  expect(asked).toEqual([
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: { namespace: 'default', verb: 'list', version: 'v1', resource: 'pods' },
        user: 'ann',
        groups: ['dev'],
        extra: { k: ['v'], 'authorization.kubernetes.io/cluster-name': ['a'] },
        uid: '7',
      },
      status: { allowed: false },
    },
  ]);
});

test('paths and selectors are told', async () => {
  const { ask, asked, answers } = world({ subjectAccessReviewVersion: 'v1beta1' });
  answers.push({ allowed: true });
  const requirement = { key: 'a', operator: 'Exists' } as const;
  await ask({ selectors: () => ({ field: [], label: [requirement] }) });
  await ask({ path: '/metrics', verb: 'get', resource: '', version: '', namespace: '' });
  expect(asked[0].spec.resourceAttributes.labelSelector).toEqual({ requirements: [requirement] });
  expect(asked[0].spec.group).toEqual(['dev']);
  expect(asked[1].spec.nonResourceAttributes).toEqual({ path: '/metrics', verb: 'get' });
  expect(asked[1].spec.resourceAttributes).toBeUndefined();
});

test.each<[object, Decision]>([
  [{ allowed: true }, { allowed: true }],
  [
    { allowed: false, reason: 'no' },
    { allowed: false, reason: 'no' },
  ],
  [{}, { allowed: false }],
  [
    { allowed: false, denied: true, reason: 'never' },
    { allowed: false, denied: true, reason: 'never' },
  ],
  [
    { allowed: true, denied: true },
    {
      allowed: false,
      denied: true,
      error: 'webhook subject access review returned both allow and deny response',
    },
  ],
])('%j', async (status, decision) => {
  const { ask, answers } = world();
  answers.push(status);
  expect(await ask()).toEqual(decision);
  expect(ask()).toEqual(decision);
});

test.each<[string, object, number, number]>([
  ['a yes', { allowed: true }, 59_999, 60_000],
  ['a no', { allowed: false }, 4_999, 5_000],
  ['a never', { denied: true }, 4_999, 5_000],
])('%s counts until its time is over', async (_what, status, during, after) => {
  const { ask, asked, answers, pass } = world();
  answers.push(status);
  await ask();
  pass(during);
  await ask();
  expect(asked).toHaveLength(1);
  pass(after - during);
  answers[0] = { allowed: false, denied: true, reason: 'revoked' };
  expect(await ask()).toMatchObject({ denied: true, reason: 'revoked' });
  expect(asked).toHaveLength(2);
});

test.each<[string, Partial<Attributes>]>([
  ['another logical cluster', { cluster: 'b' }],
  ['another user', { user: { ...user, name: 'bob' } }],
  ['another of that name', { user: { ...user, uid: '8' } }],
  ['another group', { user: { ...user, groups: ['ops'] } }],
  ['another extra', { user: { ...user, extra: {} } }],
  ['another verb', { verb: 'watch' }],
  ['another namespace', { namespace: 'b' }],
  ['another selector', { selectors: () => ({ field: [], label: [{ key: 'a', operator: 'Exists' }] }) }],
])('%s is another question', async (_what, other) => {
  const { ask, asked, answers } = world();
  answers.push({ allowed: true });
  await ask();
  await ask(other);
  expect(asked).toHaveLength(2);
});

test.each<[string, typeof configured.rememberMs, object]>([
  ['a yes', { allowed: 0, others: 5_000 }, { allowed: true }],
  ['a no', { allowed: 5_000, others: 0 }, { allowed: false }],
])('%s that is not to be remembered is asked for each time', async (_what, rememberMs, status) => {
  const { ask, asked, answers } = world({ rememberMs });
  answers.push(status);
  await ask();
  await ask();
  expect(asked).toHaveLength(2);
});

test('who asks for too much is not remembered', async () => {
  const { ask, asked, answers } = world();
  answers.push({ allowed: true });
  for (let i = 0; i < 2; i++) await ask({ name: 'x'.repeat(10_000) });
  answers[0] = { allowed: true, reason: 'y'.repeat(5_000) };
  for (let i = 0; i < 2; i++) await ask();
  expect(asked).toHaveLength(4);
});

const gave = 'webhook authorizer "policy" gave no answer';
test.each<['NoOpinion' | 'Deny', Decision]>([
  ['NoOpinion', { allowed: false, error: gave }],
  ['Deny', { allowed: false, denied: true, error: gave }],
])('one that fails: %s', async (failurePolicy, decision) => {
  const { ask, asked, answers, failures } = world({ failurePolicy });
  answers.push(new Error('connect ECONNREFUSED 10.0.0.1:443'));
  expect(await ask()).toEqual(decision);
  expect(failures.map(String)).toEqual(['Error: connect ECONNREFUSED 10.0.0.1:443']);
  answers[0] = { status: 404 };
  expect(await ask()).toEqual(decision);
  answers[0] = { status: 200 };
  expect(await ask()).toEqual(decision);
  expect(asked).toHaveLength(3);
});

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
test.each<[string, Partial<ApiResponse> | Error, boolean]>([
  ['500', { status: 500 }, true],
  ['504', { status: 504 }, true],
  ['429', { status: 429 }, true],
  ['503 that says when', { status: 503, headers: { 'retry-after': '1' } }, true],
  ['a connection that breaks', reset, true],
  ['503', { status: 503 }, false],
  ['403', { status: 403 }, false],
  ['no connection', new Error('refused'), false],
])('%s', async (_what, answer, again) => {
  const { ask, asked, answers, pauses } = world();
  answers.push(answer, { allowed: true });
  expect((await ask()).allowed).toBe(again);
  expect(asked).toHaveLength(again ? 2 : 1);
  const last = world();
  last.answers.push(answer);
  expect(await last.ask()).toEqual({ allowed: false, error: gave });
  expect(last.pauses).toEqual(again ? [500, 750, 1125, 1688] : []);
  expect(pauses).toEqual(again ? [500] : []);
});

test.each<[string[], 'NoOpinion' | 'Deny', Decision | undefined]>([
  [["request.user == 'ann'"], 'Deny', undefined],
  [["request.user != 'ann'"], 'Deny', { allowed: false }],
  [
    ["request.extra['x'] == ['a']"],
    'Deny',
    {
      allowed: false,
      denied: true,
      error:
        "cel evaluation error: expression 'request.extra['x'] == ['a']' resulted in error: no such key: x",
    },
  ],
  [
    ["request.extra['x'] == ['a']"],
    'NoOpinion',
    {
      allowed: false,
      error:
        "cel evaluation error: expression 'request.extra['x'] == ['a']' resulted in error: no such key: x",
    },
  ],
  [["request.extra['authorization.kubernetes.io/cluster-name'] == ['a']"], 'Deny', undefined],
])('%j, %s', async (matchConditions, failurePolicy, decision) => {
  const { ask, asked, answers } = world({ matchConditions, failurePolicy });
  answers.push({ allowed: true });
  // Nobody waits for what is not asked.
  const said = ask();
  if (decision) expect(said).toEqual(decision);
  else expect(await said).toEqual({ allowed: true });
  expect(asked).toHaveLength(decision ? 0 : 1);
});

const mode = (decision: Decision | Promise<Decision>, more: object = {}): AuthorizationMode => ({
  authorize: () => decision,
  rulesFor: () => ({ rules: [], ...more }),
});
const yes = { allowed: true, reason: 'yes' };
const no = (reason: string, error?: string) => ({ allowed: false, reason, ...(error && { error }) });

test.each<[string, (Decision | Promise<Decision>)[], Decision]>([
  ['nobody', [], { allowed: false }],
  ['the first that allows', [no('a'), yes, no('b')], yes],
  [
    'the first that denies',
    [no('a'), { allowed: false, denied: true, reason: 'never' }, yes],
    { allowed: false, denied: true, reason: 'never' },
  ],
  ['all who do not know', [no('a'), no('b')], no('a\nb')],
  ['who failed, too', [no('a', 'down'), no('b')], no('a\nb', 'down')],
  ['all who failed', [no('a', 'down'), no('b', 'late')], no('a\nb', '[down, late]')],
  ['not who failed where another allows', [no('a', 'down'), yes], yes],
])('%s decides', async (_what, decisions, decision) => {
  const now = chain(decisions.map((one) => mode(one)));
  expect(now.authorize(pods)).toEqual(decision);
  const later = chain(decisions.map((one) => mode(Promise.resolve(one))));
  expect(await later.authorize(pods)).toEqual(decision);
});

test('rules are told as far as they are known', () => {
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [], nonResourceURLs: [] },
  ];
  const { mode: webhook } = world();
  expect(chain([webhook, mode(yes, { rules })]).rulesFor('a', user, 'default')).toEqual({
    rules,
    incomplete: true,
    error: 'webhook authorizer does not support user rule resolution',
  });
  expect(chain([mode(yes, { rules })]).rulesFor('a', user, 'default')).toEqual({ rules });
});

test('one logical cluster that asks for ever so much pushes out nothing that was said in another', async () => {
  const { ask, asked, answers } = world();
  answers.push({ allowed: true });
  await ask({ cluster: 'b' });
  for (let i = 0; i < 10_050; i++) await ask({ name: `p${i}` });
  const before = asked.length;
  expect(await ask({ cluster: 'b' })).toEqual({ allowed: true });
  expect(await ask({ name: 'p10049' })).toEqual({ allowed: true });
  expect(asked.length).toBe(before);
  // Its own are as many as there is room for.
  await ask({ name: 'p0' });
  expect(asked.length).toBe(before + 1);
});
