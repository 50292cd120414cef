import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

let api: Api;
beforeAll(async () => {
  api = startApi();
  await api.call('POST', pods, pod);
});
afterAll(() => api.close());

const pods = '/api/v1/namespaces/default/pods';
const amounts = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } };
const first = { name: 'a', image: 'i', resources: amounts };
const second = { name: 'b', image: 'j' };
const init = { name: 'init', image: 'k' };
const sidecar = {
  name: 'side',
  image: 'k',
  restartPolicy: 'Always',
  resources: { requests: { cpu: '1' } },
};
const spec = { containers: [first, second], initContainers: [init, sidecar] };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
const asks = (resources: object) => ({ containers: [{ ...first, resources }, second] });

/** Answers of a real kube-apiserver 1.36. */
test.each<[string, object, string[]]>([
  ['more', asks({ ...amounts, requests: { cpu: '1500m', memory: '1Gi' } }), []],
  ['another image beside', { containers: [{ ...first, image: 'other' }, second] }, []],
  [
    'nothing any more',
    asks({}),
    [
      'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
      'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ],
  ],
  [
    'no limits any more',
    asks({ requests: amounts.requests }),
    ['spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed'],
  ],
  [
    'a sidecar nothing any more',
    { initContainers: [init, { ...sidecar, resources: {} }] },
    ['spec.initContainers[1].resources.requests: Forbidden: resource requests cannot be removed'],
  ],
  [
    'other amounts',
    asks({ ...amounts, requests: { ...amounts.requests, 'ephemeral-storage': '1Gi' } }),
    ['spec: Forbidden: only cpu and memory resources are mutable'],
  ],
  [
    'another policy',
    {
      containers: [
        { ...first, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
        second,
      ],
    },
    ['spec: Forbidden: only cpu and memory resources are mutable'],
  ],
  [
    'one that has another name',
    { containers: [{ ...first, name: 'z' }, second] },
    ['spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize'],
  ],
  [
    'another order',
    { containers: [second, first] },
    [
      'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
      'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
    ],
  ],
  [
    'one less',
    { containers: [first] },
    ['spec.containers: Forbidden: containers may not be added or removed on resize'],
  ],
  [
    'an init container more',
    { initContainers: [init, sidecar, { name: 'n', image: 'i' }] },
    ['spec.initContainers: Forbidden: initContainers may not be added or removed on resize'],
  ],
])('a resize to %s', async (_, change, problems) => {
  const { status, body } = await api.call('PUT', `${pods}/p/resize?dryRun=All`, {
    ...pod,
    spec: { ...spec, ...change },
  });
  const causes = (body.details?.causes ?? []) as { field: string; message: string }[];
  expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
  expect(status).toBe(problems.length > 0 ? 422 : 200);
});

test('what a pod asks for as a whole may grow, and not go', async () => {
  const whole = {
    ...pod,
    metadata: { name: 'whole' },
    spec: { ...spec, resources: { limits: { cpu: '5' } } },
  };
  await api.call('POST', pods, whole);
  const resized = async (resources: object | undefined) => {
    const body = { ...whole, spec: { ...spec, ...(resources && { resources }) } };
    return (await api.call('PUT', `${pods}/whole/resize?dryRun=All`, body)).body;
  };
  const { spec: now, metadata } = await resized({ limits: { cpu: '6' } });
  expect([now.resources.limits, metadata.generation]).toEqual([{ cpu: '6' }, 2]);
  expect((await resized({ requests: { cpu: '5' } })).message).toContain(
    'spec.resources.limits: Forbidden: pod-level resource limits cannot be removed',
  );
});
