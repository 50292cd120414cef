import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { Transport } from '../../kube/http.ts';
import { silentLogger } from '../../kube/log.ts';
import { encodeYaml } from '../../kube/yaml.ts';
import { loadAuthorization } from '../../server/authorization/load.ts';
import { resolveSettings } from '../../server/settings.ts';
import { TakenFiles } from '../../server/taken-files.ts';
import { type Api, admin, call, startApi } from '../integration/apiserver/api.ts';
import { clusterExtra, type Decider, startDecider } from '../integration/server/decider.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

const stop = new AbortController();
let directory: string;
let decider: Decider;
let kubernetes: Kubernetes;
let api: Api;
/** kube-apiserver and ours, both asked as their administrator, both with that webhook. */
let sides: Transport[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-authorization-'));
  decider = await startDecider();
  const kubeConfigFile = join(directory, 'decider.kubeconfig');
  await writeFile(kubeConfigFile, decider.kubeconfig);
  const file = join(directory, 'authorization.yaml');
  const webhook = {
    timeout: '5s',
    cacheAuthorizedRequests: false,
    cacheUnauthorizedRequests: false,
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    matchConditions: [{ expression: "request.user in ['ann', 'eve']" }],
  };
  const authorizers = [
    { type: 'Webhook', name: 'policy', webhook },
    { type: 'RBAC', name: 'rbac' },
  ];
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
  await writeFile(file, encodeYaml({ ...kind, authorizers }));
  kubernetes = await startKubernetes({ apiOnly: true, flags: ['--authorization-config', file] });
  const settings = resolveSettings({ dataDir: directory, authorizationConfig: file }, undefined, {});
  const made = await loadAuthorization({
    settings,
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });
  api = startApi({ ...(made && { authorizers: made }) });
  const theirs = await transportFromKubeconfigFile(kubernetes.kubeconfig);
  stop.signal.addEventListener('abort', () => theirs.close());
  sides = [theirs, api.server.transport(admin)];
});
afterAll(async () => {
  stop.abort();
  await Promise.all([kubernetes?.stop(), api?.close(), decider?.close()]);
  await rm(directory, { recursive: true });
});

/** What each side answers, and what it asked the webhook for that. */
async function both(method: string, url: string, body?: object, headers: Record<string, string> = {}) {
  const told = [];
  for (const side of sides) {
    decider.asked.length = 0;
    const answer = await call(side, method, url, body, headers);
    const asked = decider.asked.map(({ extra: { [clusterExtra]: _, ...extra } = {}, ...spec }) => ({
      ...spec,
      ...(Object.keys(extra).length > 0 && { extra }),
    }));
    told.push({ ...answer, asked });
  }
  const [theirs, ours] = told;
  if (!theirs || !ours) throw new Error('two sides');
  return { theirs, ours };
}

const pods = '/api/v1/namespaces/default/pods';
const review = (resource: string, spec: object) =>
  [
    `/apis/authorization.k8s.io/v1/${resource.toLowerCase()}s`,
    { apiVersion: 'authorization.k8s.io/v1', kind: resource, spec },
  ] as const;
const attributes = { verb: 'list', resource: 'pods', namespace: 'default' };

test.each<[string, object]>([
  ['allows', { allowed: true, reason: 'yes' }],
  ['denies', { denied: true, reason: 'never' }],
  ['has no opinion', { reason: 'who?' }],
  ['says both', { allowed: true, denied: true, reason: 'hm' }],
])('one that %s', async (_what, status) => {
  decider.decide = () => status;
  const users = [{ user: 'ann', groups: ['dev'], uid: '7' }, { user: 'bob' }];
  for (const user of users) {
    const selected = { ...attributes, labelSelector: { rawSelector: 'a=b,c' } };
    for (const resourceAttributes of [attributes, selected]) {
      const { theirs, ours } = await both(
        'POST',
        ...review('SubjectAccessReview', { ...user, resourceAttributes }),
      );
      expect(ours.body.status).toEqual(theirs.body.status);
      expect(ours.asked).toEqual(theirs.asked);
    }
    const path = { ...user, nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    const { theirs, ours } = await both('POST', ...review('SubjectAccessReview', path));
    expect(ours.body.status).toEqual(theirs.body.status);
    expect(ours.asked).toEqual(theirs.asked);
  }
});

test.each<[string, object | number]>([
  ['allows', { allowed: true, reason: 'yes' }],
  ['denies', { denied: true, reason: 'never' }],
  ['has no opinion', { reason: 'who?' }],
  ['fails', 403],
])('a request to one that %s', async (_what, status) => {
  decider.decide = () => status;
  const urls = [pods, `${pods}?labelSelector=a%3Db&fieldSelector=spec.nodeName!%3Dn`, `${pods}/a`, '/apis'];
  for (const url of urls) {
    const { theirs, ours } = await both('GET', url, undefined, { 'impersonate-user': 'ann' });
    expect([url, ours.status, ours.asked]).toEqual([url, theirs.status, theirs.asked]);
    if (theirs.status === 403) expect(ours.body.message).toBe(theirs.body.message);
  }
});

test('rules are not told by it', async () => {
  decider.decide = () => ({ allowed: true });
  const spec = { namespace: 'default' };
  const [url, body] = review('SelfSubjectRulesReview', spec);
  const { theirs, ours } = await both('POST', url, body, { 'impersonate-user': 'ann' });
  const { incomplete, evaluationError } = theirs.body.status;
  expect(ours.body.status).toMatchObject({ incomplete, evaluationError });
  expect(incomplete).toBe(true);
});

test('who may escalate by it may', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles?dryRun=All';
  const role = {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  };
  for (const may of [true, false]) {
    decider.decide = ({ resourceAttributes: of }) => ({ allowed: may || of?.verb !== 'escalate' });
    const { theirs, ours } = await both('POST', roles, role, { 'impersonate-user': 'ann' });
    expect([ours.status, ours.asked]).toEqual([theirs.status, theirs.asked]);
    expect(theirs.status).toBe(may ? 201 : 403);
  }
});
