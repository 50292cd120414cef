import { afterEach, expect, test } from 'vitest';
import { placementAdmission } from '../../../apiserver/admission/placement.ts';
import { podTemplate } from '../../../cluster/pod-spec.ts';
import { listAt } from '../../../kube/untyped.ts';
import { type Answer, type Api, startApi } from './api.ts';

const registration = '/clusters/root/apis/admissionregistration.k8s.io/v1';
const annotation = 'atoll.dev/pod-admission';
let api: Api;
afterEach(() => api.close());

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];

async function send(method: string, url: string, body?: unknown, type?: string): Promise<Answer> {
  const headers = type ? { 'content-type': type } : {};
  const { status, body: answer } = await api.call(method, url, body, headers);
  if (status >= 400) throw new Error(`${status}: ${answer.message}`);
  return answer;
}

/** A policy of pods that denies where the expression is false. */
async function denying(expression: string, podsElsewhere = true): Promise<void> {
  api = startApi({ podsElsewhere, admission: [placementAdmission] });
  const metadata = { name: 'p' };
  const spec = {
    matchConstraints: { resourceRules: rules },
    validations: [{ expression, message: 'denied' }],
  };
  await send('POST', `${registration}/validatingadmissionpolicies`, { metadata, spec });
  const binding = { policyName: 'p', validationActions: ['Deny'] };
  await send('POST', `${registration}/validatingadmissionpolicybindings`, { metadata, spec: binding });
}

const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'c' }] } };
const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const spec = { selector: { matchLabels: { app: 'x' } }, template };
const cron = { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: once } } };
const at = (group: string, resource: string, namespace = 'default') =>
  `/clusters/root/${group === '' ? 'api/v1' : `apis/${group}/v1`}/namespaces/${namespace}/${resource}`;
const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd', controller: true };

const cases: [what: string, url: string, object: object, asked: boolean][] = [
  ['a Deployment', at('apps', 'deployments'), { spec }, true],
  ['a StatefulSet', at('apps', 'statefulsets'), { spec: { ...spec, serviceName: 'x' } }, true],
  ['a DaemonSet', at('apps', 'daemonsets'), { spec }, true],
  ['a ReplicaSet', at('apps', 'replicasets'), { spec }, true],
  [
    'a ReplicationController',
    at('', 'replicationcontrollers'),
    { spec: { selector: { app: 'x' }, template } },
    true,
  ],
  ['a Job', at('batch', 'jobs'), { spec: { template: once } }, true],
  ['a CronJob', at('batch', 'cronjobs'), { spec: cron }, true],
  [
    'a ReplicaSet of a Deployment',
    at('apps', 'replicasets'),
    { metadata: { ownerReferences: [owner] }, spec },
    false,
  ],
  ['a PodTemplate, which makes nothing', at('', 'podtemplates'), { template }, false],
  ['what is in a namespace of the system', at('apps', 'deployments', 'kube-system'), { spec }, false],
  ['a dry run', `${at('apps', 'deployments')}?dryRun=All`, { spec }, false],
];

test.each(cases)('%s is asked about, or not', async (_what, url, object, asked) => {
  await denying('false');
  const { metadata } = object as { metadata?: object };
  const made = await send('POST', url, { ...object, metadata: { name: 'x', ...metadata } });
  const said = made.metadata.annotations?.[annotation];
  expect(said !== undefined).toBe(asked);
  if (asked) expect(JSON.parse(said)).toEqual({ refused: expect.stringMatching(/^pods "x-.* denied$/) });
});

test('where pods are made by controllers of its own, nobody is asked about templates', async () => {
  await denying('false', false);
  const made = await send('POST', at('apps', 'deployments'), { metadata: { name: 'x' }, spec });
  expect(made.metadata.annotations).toBeUndefined();
});

test('where a policy is about something else nothing is kept, and nothing is written', async () => {
  await denying("object.metadata.name != 'some-other'");
  const made = await send('POST', at('apps', 'deployments'), { metadata: { name: 'x' }, spec });
  expect(made.metadata.annotations).toBeUndefined();
  expect(made.metadata.generation).toBe(1);
});

test('an account that is not there yet is the physical cluster’s to miss', async () => {
  await denying("object.spec.serviceAccountName == 'later'");
  const later = { ...template, spec: { ...template.spec, serviceAccountName: 'later' } };
  const made = await send('POST', at('apps', 'deployments'), {
    metadata: { name: 'x' },
    spec: { ...spec, template: later },
  });
  expect(made.metadata.annotations).toBeUndefined();
});

test('each new answer is a new generation; a status, and what is written with the same answer, is none', async () => {
  await denying('false');
  const url = at('apps', 'deployments');
  const merge = 'application/merge-patch+json';
  await send('POST', url, { metadata: { name: 'x' }, spec });
  const labelled = await send('PATCH', `${url}/x`, { metadata: { labels: { a: 'b' } } }, merge);
  expect(labelled.metadata.generation).toBe(1);
  await send('DELETE', `${registration}/validatingadmissionpolicybindings/p`);
  const said = await send('PATCH', `${url}/x/status`, { status: { replicas: 0 } }, merge);
  expect(said.metadata).toMatchObject({ generation: 1, annotations: { [annotation]: expect.any(String) } });
  const admitted = await send('PATCH', `${url}/x`, {}, merge);
  expect(admitted.metadata).toMatchObject({ generation: 2 });
  expect(admitted.metadata.annotations).toBeUndefined();
});

test('a refusal is told in so many words', async () => {
  await denying('false');
  const long = { expression: 'false', messageExpression: `'${'x'.repeat(4900)}'` };
  const merge = 'application/merge-patch+json';
  await send(
    'PATCH',
    `${registration}/validatingadmissionpolicies/p`,
    { spec: { validations: [long] } },
    merge,
  );
  const made = await send('POST', at('apps', 'deployments'), { metadata: { name: 'x' }, spec });
  expect(JSON.parse(made.metadata.annotations[annotation]).refused).toMatch(/xxx$/);
  expect(JSON.parse(made.metadata.annotations[annotation]).refused).toHaveLength(4096);
});

test('where what runs is too long to be kept beside what is refused, the write is', async () => {
  await denying('object.metadata.annotations.size() > 0');
  const url = at('apps', 'deployments');
  const big = { ...template, metadata: { ...template.metadata, annotations: { big: 'x'.repeat(150_000) } } };
  await send('POST', url, { metadata: { name: 'x' }, spec: { ...spec, template: big } });
  const change = { spec: { template: { metadata: { annotations: null } } } };
  const changing = send('PATCH', `${url}/x`, change, 'application/merge-patch+json');
  await expect(changing).rejects.toThrow(/^403: .*what becomes of its template cannot be kept/);
  const { metadata } = await send('GET', `${url}/x`);
  expect(metadata).toMatchObject({ generation: 1 });
});

test('nor is a refused template written whose lists are too long to be led back to what runs', async () => {
  await denying("!object.spec.containers[0].image.startsWith('bad')");
  const url = at('apps', 'deployments');
  const long = Array.from({ length: 100_000 }, () => '');
  const of = (image: string, first: number) => {
    const args = [...Array.from({ length: first }, () => 'x'), ...long];
    const containers = [{ name: 'c', image, args }];
    return { metadata: { name: 'x' }, spec: { ...spec, template: { ...template, spec: { containers } } } };
  };
  await send('POST', url, of('good', 0));
  const few = await send('PUT', `${url}/x`, of('bad', 10));
  expect(listAt(podTemplate(few).spec, 'containers')).toMatchObject([{ image: 'good' }]);
  const writing = send('PUT', `${url}/x`, of('bad', 2_200));
  await expect(writing).rejects.toThrow(/^403: .*what becomes of its template cannot be kept/);
  const kept = await send('GET', `${url}/x`);
  expect(listAt(podTemplate(kept).spec, 'containers')).toMatchObject([{ image: 'good' }]);
});
