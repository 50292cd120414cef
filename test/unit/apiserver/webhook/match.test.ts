import { expect, test, vi } from 'vitest';
import { matchedResource } from '../../../../apiserver/admission/matching/match.ts';
import { hooksOf } from '../../../../apiserver/admission/webhook/hook.ts';
import { denial, reviewOf, verdictOf } from '../../../../apiserver/admission/webhook/review.ts';

const v = (version: string) => ({ group: 'apps', version, resource: 'deployments' });
const target = { ...v('v1'), subresource: '', namespace: 'default', operation: 'CREATE', name: 'web' };
const rule = {
  operations: ['CREATE'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
  scope: '*',
  names: [],
};

test.each([
  ['exact', rule, {}, true],
  ['another operation', { ...rule, operations: ['UPDATE'] }, {}, false],
  ['any operation', { ...rule, operations: ['*'] }, { operation: 'DELETE' }, true],
  ['another group', { ...rule, apiGroups: [''] }, {}, false],
  ['a subresource is not the resource', rule, { subresource: 'scale' }, false],
  ['any resource is not their subresources', { ...rule, resources: ['*'] }, { subresource: 'scale' }, false],
  ['any subresource', { ...rule, resources: ['deployments/*'] }, { subresource: 'scale' }, true],
  ['its name', { ...rule, names: ['db', 'web'] }, {}, true],
  ['another name', { ...rule, names: ['db'] }, {}, false],
  ['anything', { ...rule, resources: ['*/*'] }, { subresource: 'scale' }, true],
  ['scope', { ...rule, scope: 'Cluster' }, {}, false],
  ['scope of cluster-scoped', { ...rule, scope: 'Cluster' }, { namespace: '' }, true],
  [
    'a Namespace is cluster-scoped',
    { ...rule, scope: 'Namespaced', apiGroups: [''], resources: ['namespaces'] },
    { group: '', resource: 'namespaces', namespace: 'a' },
    false,
  ],
])('rules: %s', (_name, given, other, matched) => {
  const found = matchedResource({ rules: [given], equivalent: false }, { ...target, ...other }, []);
  expect(found !== undefined).toBe(matched);
});

test('an equivalent version counts only when the webhook wants it, and is what it is sent', () => {
  const old = { ...rule, apiVersions: ['v1beta1'] };
  const others = [v('v1'), v('v1beta1')];
  expect(matchedResource({ rules: [old], equivalent: false }, target, others)).toBeUndefined();
  expect(matchedResource({ rules: [old], equivalent: true }, target, others)).toEqual(v('v1beta1'));
});

test('defaults of a webhook', () => {
  const configuration = { apiVersion: '', kind: '', metadata: { name: 'c' }, webhooks: [{ name: 'a.b.c' }] };
  const [hook] = hooksOf(configuration);
  expect(hook).toMatchObject({ equivalent: true, ignoreFailure: false, timeoutSeconds: 10, reinvoke: false });
});

const question = {
  kind: { ...v('v1'), kind: 'Deployment' },
  resource: v('v1'),
  requestKind: { ...v('v1'), kind: 'Deployment' },
  requestResource: v('v1'),
  subresource: '',
  namespace: 'default',
  name: 'web',
  operation: 'CREATE',

  user: { name: 'ann', groups: [] },
  object: undefined,
  old: undefined,
  dryRun: false,
  options: undefined,
};

const alone = async () => {};

test('a review is made in a version that the webhook takes', () => {
  expect(reviewOf(question, ['v2'])).toBeUndefined();
  expect(reviewOf(question, ['v2', 'v1beta1', 'v1'])?.['apiVersion']).toBe('admission.k8s.io/v1beta1');
});

test.each([
  [undefined, /webhook response was absent/],
  [{ uid: 'other', allowed: true }, /expected response.uid="[^"]+", got "other"/],
  [{ allowed: true, patch: 'W10=' }, /webhook returned response.patch but not response.patchType/],
  [{ allowed: true, patchType: 'JSONPatch' }, /webhook returned response.patchType but not response.patch/],
  [{ allowed: true, patchType: 'JSONPatch', patch: 'e30=' }, /cannot unmarshal object into Go value of type/],
  [{ allowed: true, patchType: 'Merge', patch: 'W10=' }, /unsupported patch type "Merge"/],
  [
    { allowed: true, patchType: 'JSONPatch', patch: { length: 1e7 } },
    /response.patch is an object, no string$/,
  ],
  [{ allowed: true, patchType: ['JSONPatch'], patch: 'W10=' }, /response.patchType is an array, no string$/],
  [{ uid: { toString: 1, valueOf: 1 } }, /response.uid is an object, no string$/],
  [{ allowed: 'true' }, /response.allowed is a string, no boolean$/],
  [{ allowed: false, status: 'no' }, /response.status is a string, no object$/],
  [{ allowed: true, warnings: { length: 1e9 } }, /response.warnings is an object, no array$/],
  [
    { allowed: true, warnings: ['one', { toString: 1, valueOf: 1 }] },
    /response.warnings is an object, no string$/,
  ],
])('an answer that is none: %j', async (response, message) => {
  const review = reviewOf(question, ['v1']) ?? {};
  const { uid } = review['request'] as { uid: string };
  const answer = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    ...(response && { response: { uid, ...response } }),
  };
  await expect(verdictOf(answer, review, true, alone)).rejects.toThrow(message);
});

test('a patch that is null changes nothing', async () => {
  const review = reviewOf(question, ['v1']) ?? {};
  const { uid } = review['request'] as { uid: string };
  const patch = Buffer.from('null').toString('base64');
  const answer = { ...review, response: { uid, allowed: true, patchType: 'JSONPatch', patch } };
  expect(await verdictOf(answer as never, review, true, alone)).toMatchObject({ allowed: true, patch: [] });
});

test.each([
  [{}, 400, 'admission webhook "x" denied the request without explanation'],
  [{ reason: 'Forbidden' }, 400, 'admission webhook "x" denied the request: Forbidden'],
  [{ code: 200, message: 'm', reason: 'r' }, 400, 'admission webhook "x" denied the request: m'],
  [{ code: 1000, message: 'm' }, 400, 'admission webhook "x" denied the request: m'],
  [{ code: 450.5, message: 'm' }, 400, 'admission webhook "x" denied the request: m'],
  [{ code: 503, message: 'm' }, 503, 'admission webhook "x" denied the request: m'],
])('denied with %j', (result, code, message) => {
  expect(denial('x', result)).toMatchObject({ code, message });
});

test('others have their turn again and again while a long patch is read', async () => {
  const review = reviewOf(question, ['v1']) ?? {};
  const { uid } = review['request'] as { uid: string };
  const operations = Array.from({ length: 30_000 }, () => ({ op: 'add', path: '/a', value: [{}] }));
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  const answer = { ...review, response: { uid, allowed: true, patchType: 'JSONPatch', patch } };
  const others = vi.fn(alone);
  expect((await verdictOf(answer as never, review, true, others)).patch).toEqual(operations);
  expect(others.mock.calls.length).toBeGreaterThan(10);
});

test('of why a webhook refused so much is kept as a Status has, and of causes the first thousand', async () => {
  const review = reviewOf(question, ['v1']) ?? {};
  const { uid } = review['request'] as { uid: string };
  const cause = { reason: 'Bad', message: 'no', field: 'spec' };
  const given = { name: 'a', group: 'b', kind: 'C', uid: 'd', retryAfterSeconds: 3 };
  const causes = Array(10_000).fill({ ...cause, more: [{}] });
  const status = { message: 'm', code: 403, more: [{}], details: { ...given, more: [{}], causes } };
  const answerOf = (allowed: boolean) => ({ ...review, response: { uid, allowed, status, more: [{}] } });
  const { result } = await verdictOf(answerOf(false), review, false, alone);
  expect(result).toEqual({ message: 'm', code: 403, details: { ...given, causes: Array(1000).fill(cause) } });
  expect(denial('x', result).details).toEqual({ ...given, causes: Array(1000).fill(cause) });
  expect((await verdictOf(answerOf(true), review, false, alone)).result).toEqual({});
});
