import { expect, test } from 'vitest';
import { readConfiguration } from '../../../../kube/authorization/configuration.ts';
import { encodeYaml } from '../../../../kube/yaml.ts';
import { asked, authorizers, kind, rbac, refused, when } from './configurations.ts';

const files: Record<string, string> = { '/dev': 'must be a regular file' };
const problem = (file: string) => files[file];
const read = (more: object) => readConfiguration(encodeYaml({ ...kind, ...more }), problem);
test.each([
  ['RBAC', authorizers(rbac)],
  ['a webhook', asked({})],
  [
    'two of them and RBAC',
    authorizers(
      rbac,
      ...asked({}).authorizers,
      ...['b'].map((name) => ({ ...asked({}).authorizers[0], name })),
    ),
  ],
  [
    'all and nobody',
    authorizers({ type: 'AlwaysAllow', name: 'alwaysallow' }, { type: 'AlwaysDeny', name: 'alwaysdeny' }),
  ],
  ['an older version', { apiVersion: 'apiserver.config.k8s.io/v1alpha1', ...asked({}) }],
  ['an older review', asked({ subjectAccessReviewVersion: 'v1beta1' })],
  [
    'no version of conditions that there are none of',
    asked({ matchConditionSubjectAccessReviewVersion: '' }),
  ],
  [
    'conditions',
    when(
      'has(request.resourceAttributes)',
      "request.resourceAttributes.namespace == 'a' || 'x' in request.groups",
      "request.extra['k'].exists(v, v == '1') && request.uid != ''",
      "request.resourceAttributes.labelSelector.requirements.all(r, r.operator == 'In' && 'a' in r.values)",
      'request.?nonResourceAttributes.path.orValue("") != "/x"',
    ),
  ],
])('%s is good', (_what, more) => {
  expect(() => read(more)).not.toThrow();
});

test('what is not said has defaults; what is not to be remembered is not', () => {
  const made = (more: object) => read(asked(more)).authorizers[0];
  expect(made({})).toEqual({
    type: 'Webhook',
    name: 'policy',
    webhook: {
      timeoutMs: 3000,
      rememberMs: { allowed: 300_000, others: 30_000 },
      subjectAccessReviewVersion: 'v1',
      failurePolicy: 'NoOpinion',
      kubeConfigFile: '/there',
      matchConditions: [],
    },
  });
  const times = { authorizedTTL: '1m', unauthorizedTTL: '100ms' };
  expect(made(times)).toMatchObject({ webhook: { rememberMs: { allowed: 60_000, others: 100 } } });
  const never = { cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false };
  expect(made({ ...times, ...never })).toMatchObject({ webhook: { rememberMs: { allowed: 0, others: 0 } } });
});

test.each(refused.map(([more, message]) => [message, more] as const))('%s', (message, more) => {
  expect(() => read(more)).toThrow(message);
});

/** In our own: kube-apiserver takes them, does not say why not, or fails later. */
test.each<[object, string]>([
  [authorizers({ type: 'Node', name: 'node' }, rbac), 'no kubelet is a client of this server: leave it out'],
  [authorizers({ type: 'ABAC', name: 'abac' }), 'it is not supported here; say by RBAC'],
  [
    asked({ connectionInfo: { type: 'InClusterConfig' } }),
    'this server would ask itself; use KubeConfigFile',
  ],
  [{ kind: 'Pod' }, 'expected AuthorizationConfiguration'],
  [{ apiVersion: 'v1' }, 'no kind "AuthorizationConfiguration" is registered for version "v1"'],
  [{ authorizer: [] }, 'strict decoding error: unknown field "authorizer"'],
  [asked({ ttl: '1s' }), 'unknown field "authorizers[0].webhook.ttl"'],
  [{ authorizers: {} }, 'authorizers must be a list'],
])('%j is refused', (more, message) => {
  expect(() => read(more)).toThrow(message);
});

test.each<[string, object, string | undefined]>([
  ['a webhook more', authorizers(rbac, ...asked({}).authorizers), undefined],
  ['no RBAC', asked({}), 'missing required types: [RBAC]'],
])('while it runs: %s', (_what, next, message) => {
  const take = () => readConfiguration(encodeYaml({ ...kind, ...next }), problem, read(authorizers(rbac)));
  if (message === undefined) expect(take).not.toThrow();
  else expect(take).toThrow(message);
});

test('while it runs no RBAC begins', () => {
  const take = () =>
    readConfiguration(encodeYaml({ ...kind, ...authorizers(rbac) }), problem, read(asked({})));
  expect(take).toThrow('authorizer type RBAC is not allowed if it was not enabled at initial server startup');
});

test('an empty file says nothing', () => {
  expect(() => readConfiguration('', problem)).toThrow('at least one authorization mode must be defined');
});
