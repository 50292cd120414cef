import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

const prefix = 'pod-security.kubernetes.io/';
let api: Api;
beforeAll(() => {
  api = startApi();
});
afterAll(() => api.close());

let made = 0;
/** Of the labels without their prefix. */
async function namespace(labels: Record<string, string>): Promise<string> {
  const name = `n${made++}`;
  const its = Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]));
  const { status } = await api.call('POST', '/api/v1/namespaces', { metadata: { name, labels: its } });
  expect(status).toBe(201);
  await api.call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  return name;
}

const spec = (more: object = {}) => ({ containers: [{ name: 'c', image: 'i' }], ...more });
const pod = (more: object = {}, name = 'p') => ({ metadata: { name }, spec: spec(more) });
const host = { hostNetwork: true };
const create = (ns: string, body: object, dry = false) =>
  api.call('POST', `/api/v1/namespaces/${ns}/pods${dry ? '?dryRun=All' : ''}`, body);
const template = { metadata: { labels: { a: 'b' } }, spec: spec(host) };
const selector = { matchLabels: { a: 'b' } };

test('what a Namespace enforces holds for its Pods, and is told of in the words of the standard', async () => {
  const ns = await namespace({ enforce: 'baseline' });
  expect((await create(ns, pod())).status).toBe(201);
  const refused = await create(ns, pod(host, 'q'));
  expect([refused.status, refused.body.reason, refused.body.message]).toEqual([
    403,
    'Forbidden',
    'pods "q" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
  ]);
});

test.each<[string, string, object]>([
  ['a Deployment', 'apis/apps/v1/namespaces/NS/deployments', { spec: { selector, template } }],
  [
    'a StatefulSet',
    'apis/apps/v1/namespaces/NS/statefulsets',
    { spec: { serviceName: 's', selector, template } },
  ],
  ['a DaemonSet', 'apis/apps/v1/namespaces/NS/daemonsets', { spec: { selector, template } }],
  ['a ReplicaSet', 'apis/apps/v1/namespaces/NS/replicasets', { spec: { selector, template } }],
  [
    'a ReplicationController',
    'api/v1/namespaces/NS/replicationcontrollers',
    { spec: { selector: { a: 'b' }, template } },
  ],
  ['a PodTemplate', 'api/v1/namespaces/NS/podtemplates', { template }],
  [
    'a Job',
    'apis/batch/v1/namespaces/NS/jobs',
    { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
  ],
  [
    'a CronJob',
    'apis/batch/v1/namespaces/NS/cronjobs',
    {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  ],
])('%s is taken with a warning of what its pods would violate', async (_, path, body) => {
  const ns = await namespace({ enforce: 'baseline' });
  const { status, headers } = await api.call('POST', `/${path.replace('NS', ns)}`, {
    metadata: { name: 'w' },
    ...body,
  });
  expect([status, [headers['warning']].flat()]).toEqual([
    201,
    ['299 - "would violate PodSecurity \\"baseline:latest\\": host namespaces (hostNetwork=true)"'],
  ]);
});

test('only other containers and images are judged anew; a debugging container is', async () => {
  const ns = await namespace({});
  await create(ns, pod(host));
  const path = `/api/v1/namespaces/${ns}`;
  const strict = { metadata: { labels: { [`${prefix}enforce`]: 'baseline' } } };
  const merge = { 'content-type': 'application/strategic-merge-patch+json' };
  const warned = await api.call('PATCH', path, strict, merge);
  expect(String(warned.headers['warning'])).toContain(
    `existing pods in namespace \\"${ns}\\" violate the new PodSecurity enforce level \\"baseline:latest\\"`,
  );
  expect(String(warned.headers['warning'])).toContain('299 - "p: host namespaces"');
  const patch = (body: object, sub = '') => api.call('PATCH', `${path}/pods/p${sub}`, body, merge);
  expect((await patch({ metadata: { labels: { a: 'b' } } })).status).toBe(200);
  expect((await patch({ spec: { containers: [{ name: 'c', image: 'j' }] } })).status).toBe(403);
  const debug = {
    spec: { ephemeralContainers: [{ name: 'd', image: 'i', securityContext: { privileged: true } }] },
  };
  const refused = await patch(debug, '/ephemeralcontainers');
  expect([refused.status, refused.body.message]).toEqual([
    403,
    expect.stringContaining('privileged (container'),
  ]);
});

test('labels that say nothing are refused, and left alone where they are already there', async () => {
  const labels = { [`${prefix}enforce`]: 'strict', [`${prefix}warn-version`]: '1.2' };
  const refused = await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'bad', labels } });
  expect([refused.status, refused.body.details.causes]).toEqual([
    422,
    [
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "strict": must be one of privileged, baseline, restricted',
        field: `metadata.labels[${prefix}enforce]`,
      },
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "1.2": must be "latest" or "v1.x"',
        field: `metadata.labels[${prefix}warn-version]`,
      },
    ],
  ]);
});
