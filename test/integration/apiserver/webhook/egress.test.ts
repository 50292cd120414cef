import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Egress } from '../../../../apiserver/egress/dial.ts';
import { type Api, configMap, configMaps, startApi } from '../api.ts';
import { type Hooks, startHooks } from './hooks.ts';

let hooks: Hooks;
let api: Api;
beforeAll(async () => {
  hooks = await startHooks({
    '/allow': () => ({ allowed: true, warnings: ['asked'] }),
  });
});
afterAll(() => hooks.close());
afterEach(() => api.close());

const registration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

async function calling(clientConfig: object, webhook: object = {}): Promise<string> {
  await api.call('POST', registration, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'test' },
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: ['configmaps'] }],
        timeoutSeconds: 3,
        ...webhook,
      },
    ],
  });
  const { body, headers } = await api.call('POST', configMaps, configMap('a'));
  return body.message ?? headers['warning']?.[0] ?? 'stored, nobody asked';
}

/** An Egress whose names lead to these addresses, the first time and each time after it. */
function named(addresses: string[][], allow: string[] = []): Egress {
  let asked = 0;
  const resolve = (_name: string, _options: object, callback: (...of: unknown[]) => void) => {
    const found = addresses[Math.min(asked++, addresses.length - 1)] ?? [];
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return new Egress({ allow, deny: ['192.168.0.0/16'], ports: [7443] }, resolve as never);
}

const failed = (url: string, why: string) =>
  `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "${url}?timeout=3s": ${why}`;

test.each([
  ['https://127.0.0.1:1/x', 'dial tcp 127.0.0.1:1: a loopback address'],
  ['https://0x7f.1/x', 'dial tcp 127.0.0.1:443: a loopback address', 'https://127.0.0.1/x'],
  ['https://2130706433/x', 'dial tcp 127.0.0.1:443: a loopback address', 'https://127.0.0.1/x'],
  ['https://[::1]/x', 'dial tcp [::1]:443: a loopback address'],
  ['https://[::ffff:7f00:1]:8443/x', 'dial tcp [::ffff:7f00:1]:8443: a loopback address'],
  ['https://0.0.0.0:7443/x', "dial tcp 0.0.0.0:7443: the server's own address"],
  ['https://169.254.169.254/latest/', 'dial tcp 169.254.169.254:443: an address of cloud metadata'],
  ['https://[fd00:ec2::254]/x', 'dial tcp [fd00:ec2::254]:443: an address of cloud metadata'],
  ['https://[fe80::1]/x', 'dial tcp [fe80::1]:443: a link-local address'],
  ['https://192.168.1.1/x', 'dial tcp 192.168.1.1:443: an address that is denied'],
])('a webhook at %s is not called', async (url, why, posted = url) => {
  api = startApi({ egress: named([]) });
  expect(await calling({ url })).toBe(failed(posted, `${why} is not allowed (--egress-allow)`));
});

test.each([[['127.0.0.1']], [['::1']], [['169.254.169.254', '64:ff9b::a9fe:a9fe']], [['192.168.7.7']]])(
  'a name that leads to %j is not dialled, and the answer does not say where it leads',
  async (addresses) => {
    api = startApi({ egress: named([addresses]) });
    const url = `https://inside.example:${hooks.port}/allow`;
    const why = `dial tcp inside.example:${hooks.port}: its address is not allowed (--egress-allow)`;
    expect(await calling({ url })).toBe(failed(url, why));
    expect(hooks.asked).toEqual([]);
  },
);

test('a Service that is another name, and one whose endpoints are the tenant’s own, lead nowhere else', async () => {
  api = startApi({ egress: named([['127.0.0.1']]) });
  const services = '/api/v1/namespaces/default/services';
  const made = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec,
  });
  await api.call('POST', services, made('other', { type: 'ExternalName', externalName: 'localhost' }));
  const service = { name: 'other', namespace: 'default', path: '/allow' };
  const url = 'https://other.default.svc:443/allow';
  const why = 'dial tcp other.default.svc:443: its address is not allowed (--egress-allow)';
  expect(await calling({ service })).toBe(failed(url, why));
  await api.call('DELETE', `${registration}/test`);
  await api.call('POST', services, made('hook', { ports: [{ name: 'web', port: 443 }] }));
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'hook', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv6',
    ports: [{ name: 'web', port: hooks.port }],
    endpoints: [{ addresses: ['64:ff9b::7f00:1'] }],
  };
  const { status } = await api.call(
    'POST',
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    slice,
  );
  expect(status).toBe(201);
  expect(await calling({ service: { ...service, name: 'hook' } })).toBe(
    failed(
      'https://hook.default.svc:443/allow',
      'dial tcp hook.default.svc:443: its address is not allowed (--egress-allow)',
    ),
  );
});

test('the address that was looked at is the one that is connected to, by the name that the other end must prove', async () => {
  // Asked again, the name would lead elsewhere.
  api = startApi({ egress: named([['192.168.7.7', '127.0.0.1'], ['192.168.7.7']], ['127.0.0.0/8']) });
  const { caBundle } = hooks;
  expect(await calling({ url: `https://hook.default.svc:${hooks.port}/allow`, caBundle })).toContain('asked');
  hooks.asked.length = 0;
});

test('names that cannot be connected to are told without what they resolve to', async () => {
  api = startApi({ egress: named([['127.0.0.1']], ['127.0.0.0/8']) });
  expect(await calling({ url: 'https://inside.example:1/x' })).toBe(
    failed('https://inside.example:1/x', 'dial tcp inside.example:1: connect: connection refused'),
  );
});

test.each([
  [
    'a redirect',
    { status: 302, headers: { location: 'https://127.0.0.1:1/elsewhere' }, body: '' },
    'status code 302',
  ],
  ['an answer without an end', { status: 200, headers: {}, body: 'x'.repeat(9 << 20) }, 'too large'],
  [
    'an error of a megabyte',
    { status: 500, headers: {}, body: 'x'.repeat(1 << 20) },
    'has prevented the request',
  ],
  ['a refusal of a megabyte', { status: 403, headers: {}, body: 'x'.repeat(1 << 20) }, 'x'],
])('%s is not followed, nor read or told for ever', async (_name, { status, headers, body }, said) => {
  const connectService = async () => ({
    path: '/api/v1/namespaces/x/services/hook',
    transport: async () => ({ status, headers, body: Buffer.from(body) }),
  });
  api = startApi({ connectService });
  const spec = { ports: [{ port: 443 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec };
  await api.call('POST', '/api/v1/namespaces/default/services', service);
  const message = await calling({ service: { name: 'hook', namespace: 'default' } });
  expect(message).toContain(said);
  expect(message.length).toBeLessThan(3000);
});

test('whoever connects and says nothing is waited for as long as the webhook has', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  api = startApi();
  const message = await calling({ url: `https://127.0.0.1:${port}/x` }, { timeoutSeconds: 1 });
  expect(message).toContain('context deadline exceeded');
  silent.close();
});
