import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const services = '/api/v1/namespaces/default/services';
const create = (name: string, spec: object, query = '') =>
  api.call('POST', `${services}${query}`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });
const patch = (name: string, spec: object) => api.call('PATCH', `${services}/${name}`, { spec });

test('a NodePort Service gets ports of the range, one for TCP and UDP of the same number', async () => {
  const dns = [
    { name: 'tcp', port: 53 },
    { name: 'udp', port: 53, protocol: 'UDP' },
  ];
  const { body } = await create('dns', { type: 'NodePort', ports: dns });
  const [tcp, udp] = body.spec.ports;
  expect(tcp.nodePort).toBeGreaterThanOrEqual(30_000);
  expect(tcp.nodePort).toBeLessThanOrEqual(32_767);
  expect(udp.nodePort).toBe(tcp.nodePort);
});

test.each([
  [
    { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
    /nodePort: Invalid value: 30080: provided port is already allocated/,
  ],
  [{ type: 'NodePort', ports: [{ port: 80, nodePort: 5 }] }, /The range of valid ports is 30000-32767/],
  [
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30080 },
    /failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated/,
  ],
  [{ clusterIP: '10.96.77.7' }, /failed to allocate IP 10.96.77.7: provided IP is already allocated/],
  [
    { clusterIP: 'fd00::1' },
    /spec.clusterIPs\[0\]: Invalid value: \["fd00::1"\]: IPv6 is not configured on this cluster/,
  ],
  [{ ipFamilies: ['IPv6'] }, /spec.ipFamilies\[0\]: Invalid value: "IPv6": not configured on this cluster/],
  [{ ipFamilyPolicy: 'RequireDualStack' }, /this cluster is not configured for dual-stack services/],
  [{ ipFamilies: ['IPv4', 'IPv6'] }, /when multiple IP families are specified/],
])('refuses %j', async (spec, message) => {
  await create('first', {
    type: 'NodePort',
    clusterIP: '10.96.77.7',
    ports: [{ port: 80, nodePort: 30080 }],
  });
  const { status, body } = await create('second', spec);
  expect(status).toBeGreaterThanOrEqual(422);
  expect(body.message).toMatch(message);
});

test('what a Service had is free again when it goes, changes its type, or was a dry run', async () => {
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };
  expect((await create('a', spec, '?dryRun=All')).status).toBe(201);
  expect((await create('a', spec)).status).toBe(201);
  const narrowed = await patch('a', { type: 'ClusterIP' });
  expect(narrowed.body.spec.ports[0].nodePort).toBeUndefined();
  expect((await create('b', spec)).status).toBe(201);
  const deleted = await api.call('DELETE', `${services}/b`);
  expect(deleted.body).toMatchObject({ kind: 'Service', metadata: { name: 'b' } });
  expect((await create('c', spec)).status).toBe(201);
});

test('an update that leaves out what was allocated keeps it', async () => {
  const ports = [{ name: 'web', port: 80 }];
  const { body: made } = await create('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports });
  const { clusterIP, healthCheckNodePort } = made.spec;
  expect(healthCheckNodePort).toBeGreaterThanOrEqual(30_000);
  const replaced = await api.call('PUT', `${services}/a`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a' },
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ name: 'web', port: 81 }] },
  });
  expect(replaced.body.spec).toMatchObject({ clusterIP, healthCheckNodePort });
  expect(replaced.body.spec.ports[0].nodePort).toBe(made.spec.ports[0].nodePort);
});

test('to ExternalName and back: another address, no port', async () => {
  await create('a', {});
  const { body } = await patch('a', { type: 'ExternalName', externalName: 'x.y' });
  expect(body.spec).toMatchObject({ type: 'ExternalName' });
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies']) expect(body.spec[field]).toBeUndefined();
  const back = await patch('a', { type: 'ClusterIP', externalName: null });
  expect(back.body.spec.clusterIPs).toEqual([back.body.spec.clusterIP]);
});

test('many at once never get the same', async () => {
  const made = await Promise.all(Array.from({ length: 40 }, (_, i) => create(`s${i}`, { type: 'NodePort' })));
  const all = (read: (spec: { clusterIP: string; ports: { nodePort: number }[] }) => unknown) =>
    new Set(made.map(({ body }) => read(body.spec)));
  expect(all((spec) => spec.clusterIP).size).toBe(40);
  expect(all((spec) => spec.ports[0]?.nodePort).size).toBe(40);
  const ports = made.map(({ body }) => body.spec.ports[0].nodePort as number);
  expect(Math.min(...ports), 'those below are for whoever wants a certain one').toBeGreaterThanOrEqual(
    30_086,
  );
});

test('what a Service would have had is free again when a webhook could not be asked about it', async () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const webhook = {
    name: 'none.example.com',
    // Nobody listens there.
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await api.call('POST', configurations, { metadata: { name: 'none' }, webhooks: [webhook] });
  const spec = {
    type: 'NodePort',
    clusterIP: '10.96.77.7',
    ports: [{ port: 80, nodePort: 30080 }],
  };
  expect((await create('one', spec)).status).toBe(500);
  await api.call('DELETE', `${configurations}/none`);
  expect((await create('one', spec)).status).toBe(201);
});
