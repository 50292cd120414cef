import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Egress } from '../../../../apiserver/egress/dial.ts';
import type { ServerLogger } from '../../../../apiserver/options.ts';
import { sweep } from '../../../../apiserver/registry/logical-clusters.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, admin, call, startApi } from '../api.ts';
import {
  apiService,
  apiServices,
  authentication,
  externalService,
  makeAvailable,
  register,
} from './scene.ts';

let api: Api;
let extension: Extension;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
});
afterEach(async () => {
  await api.close();
  await extension.close();
});

const flunders = `/apis/${gv}/namespaces/default/flunders`;
const someone = { name: 'ann', groups: ['system:authenticated'] };

describe('what is served here is nobody else’s', () => {
  test.each([
    ['apps', 'v1', '/apis/apps/v1', '/apis/apps/v1/deployments'],
    ['apps', 'v9', '/apis/apps/v9', '/apis/apps/v9/deployments'],
    ['rbac.authorization.k8s.io', 'v1', '/apis/rbac.authorization.k8s.io/v1', undefined],
    [
      'authentication.k8s.io',
      'v2',
      '/apis/authentication.k8s.io/v2',
      '/apis/authentication.k8s.io/v2/tokenreviews',
    ],
    ['apiregistration.k8s.io', 'v1beta1', '/apis/apiregistration.k8s.io/v1beta1', undefined],
  ])('%s/%s', async (group, version, ...paths) => {
    await register(api, extension, '', { group, version });
    for (const path of paths) if (path) await api.call('GET', path);
    expect(extension.asked).toEqual([]);
  });

  test('the core group, and the group of an APIService whose name is another’s', async () => {
    const odd = apiService(extension, { group: '', version: 'v1' }) as { metadata: { name: string } };
    await api.call('POST', apiServices, odd);
    const named = apiService(extension, {}) as { metadata: { name: string } };
    named.metadata.name = 'v1.other.example.com';
    expect((await api.call('POST', apiServices, named)).status).toBe(422);
    expect((await api.call('GET', '/api/v1/namespaces')).body.kind).toBe('NamespaceList');
    expect(extension.asked).toEqual([]);
  });

  test('a version that a definition serves is the definition’s, and another version of its group is not', async () => {
    await register(api, extension);
    await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `flunders.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'flunders', singular: 'flunder', kind: 'Flunder' },
        versions: [
          { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    });
    await register(api, extension, '', { version: 'v2' }).catch(() => undefined);
    expect((await api.call('GET', flunders)).body.kind).toBe('FlunderList');
    expect((await api.call('GET', `/apis/${gv}/others`)).status).toBe(404);
    expect(extension.asked).toEqual([]);
    await makeAvailable(api, `v2.${group}`);
    await api.call('GET', `/apis/${group}/v2/flunders`);
    expect(extension.asked).toHaveLength(1);
  });
});

describe('logical clusters', () => {
  test('the certificate that is shown to one’s servers is refused by another’s, and so is its user', async () => {
    const [a, b] = [await api.addCluster('root:a'), await api.addCluster('root:b')];
    for (const id of [a, b]) {
      await api.call('POST', `/clusters/${id}/api/v1/namespaces`, {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: { name: 'kube-system' },
      });
    }
    await register(api, extension, `/clusters/${a}`);
    expect((await api.call('GET', `/clusters/${a}${flunders}`)).status).toBe(200);
    const { body } = await api.call('GET', `/clusters/${b}${authentication}`);
    const other = await startExtension();
    try {
      other.trust(body.data['requestheader-client-ca-file']);
      const { port } = other;
      const spec = { service: { namespace: 'default', name: 'wardle', port }, caBundle: other.caBundle };
      await api.call('PATCH', `/clusters/${a}${apiServices}/v1alpha1.${group}`, { spec });
      expect((await api.call('GET', `/clusters/${a}${flunders}`)).status).toBe(401);
      expect(other.asked).toMatchObject([{ authorized: false, headers: { 'x-remote-user': 'admin' } }]);
    } finally {
      await other.close();
    }
  });

  test('an APIService of one is nothing in another, nor for all of them at once', async () => {
    const a = await api.addCluster('root:a');
    await register(api, extension);
    for (const prefix of [`/clusters/${a}`, '/clusters/*']) {
      expect((await api.call('GET', prefix + flunders)).status).toBe(404);
      expect((await api.call('GET', `${prefix}/apis/${gv}`)).status).toBe(404);
    }
    expect(extension.asked).toEqual([]);
  });

  test('what is kept of the authorities is read by no API, and goes with the logical cluster', async () => {
    const store = openMemory();
    await api.close();
    api = startApi({ store });
    const a = await api.addCluster('root:a');
    await api.call('POST', `/clusters/${a}/api/v1/namespaces`, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'kube-system' },
    });
    const { body } = await api.call('GET', `/clusters/${a}${authentication}`);
    expect(JSON.stringify(body)).not.toContain('PRIVATE KEY');
    const key = `/!internal/request-header/${a}/authority`;
    expect(await store.get(key)).toBeDefined();
    await sweep(store, a);
    expect(await store.get(key)).toBeUndefined();
  });
});

describe('who asks', () => {
  test('nobody who may not, as RBAC says', async () => {
    await register(api, extension);
    const transport = api.server.transport(someone);
    expect((await call(transport, 'GET', flunders)).body.reason).toBe('Forbidden');
    expect((await call(transport, 'POST', flunders, {})).body.reason).toBe('Forbidden');
    expect(extension.asked).toEqual([]);
  });

  test('as whoever they are, and not as they say, and what they show stays here', async () => {
    await register(api, extension);
    const headers = {
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
      x_remote_user: 'root',
      authorization: 'Bearer secret',
      cookie: 'session=secret',
      connection: 'close, x-remote-user',
      'x-atoll-availability-check': 'yes',
    };
    const rule = { apiGroups: [group], resources: ['*'], verbs: ['*'] };
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const made = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'flunders' } };
    await api.call('POST', `${rbac}/clusterroles`, { ...made, kind: 'ClusterRole', rules: [rule] });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'flunders' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }];
    await api.call('POST', `${rbac}/clusterrolebindings`, {
      ...made,
      kind: 'ClusterRoleBinding',
      roleRef,
      subjects,
    });
    const answered = await call(api.server.transport(someone), 'GET', flunders, undefined, headers);
    expect([answered.status, answered.headers['x-atoll-availability-check']]).toEqual([200, undefined]);
    const sent = extension.asked[0]?.headers;
    expect(sent).toMatchObject({ 'x-remote-user': 'ann', 'x-remote-group': 'system:authenticated' });
    expect(JSON.stringify(sent)).not.toMatch(/secret|root|masters/);
    expect(Object.keys(sent ?? {}).some((name) => name.includes('_') || name === 'x-remote-extra-a')).toBe(
      false,
    );
  });

  test('a user’s word that it is our own controller makes nothing available', async () => {
    await register(api, extension);
    await api.call('PATCH', `${apiServices}/v1alpha1.${group}/status`, { status: { conditions: [] } });
    const headers = { 'x-atoll-availability-check': 'yes' };
    expect((await api.call('GET', `/apis/${gv}`, undefined, headers)).status).toBe(503);
    expect(extension.asked).toEqual([]);
  });

  test.each([`/apis/${gv}//namespaces/default/flunders`, `/apis/${gv}/namespaces//flunders`])(
    'a path that two may read differently goes nowhere: %s',
    async (path) => {
      await register(api, extension);
      expect((await api.call('GET', path)).status).toBe(404);
      expect(extension.asked).toEqual([]);
    },
  );

  test.each(['/apis/%2e%2e/x', `/apis/${gv}/..%2f..%2fapi/v1/secrets`, `/apis/${gv}/%2e%2e/secrets`])(
    'nor one that leads out of its group: %s',
    async (path) => {
      await register(api, extension);
      expect((await api.call('GET', path)).status).toBeGreaterThanOrEqual(400);
      expect(extension.asked).toEqual([]);
    },
  );

  test('what is in a name stays in that name', async () => {
    await register(api, extension);
    await api.call('GET', `${flunders}/a%3Fwatch=1%0d%0aX-Remote-User:root%23`);
    expect(extension.asked[0]?.url).toBe(`${flunders}/a%3Fwatch%3D1%0D%0AX-Remote-User%3Aroot%23`);
  });
});

describe('where it leads', () => {
  test.each(['localhost', '169.254.169.254.nip.io'])(
    '%s is not dialled unless that is allowed',
    async (name) => {
      await api.close();
      const resolve = (_name: string, _options: object, callback: (...of: unknown[]) => void) =>
        callback(null, [{ address: name === 'localhost' ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
      api = startApi({ egress: new Egress({ allow: [], deny: [], ports: [] }, resolve as never) });
      await api.call('POST', '/api/v1/namespaces/default/services', externalService(name));
      await register(api, extension);
      const { status, body } = await api.call('GET', flunders);
      const why = `dial tcp wardle.default.svc:${extension.port}: its address is not allowed (--egress-allow)`;
      expect([status, body]).toEqual([503, `error trying to reach service: ${why}\n`]);
      expect(extension.asked).toEqual([]);
    },
  );

  test('redirects are neither followed nor passed on', async () => {
    await register(api, extension);
    extension.instead = (_request, response) => {
      response.writeHead(307, { location: 'https://127.0.0.1:1/steal' }).end();
      return true;
    };
    const { status, headers } = await api.call('GET', flunders);
    expect([status, headers['location']]).toEqual([502, undefined]);
    expect(extension.asked).toHaveLength(1);
  });

  test.each([
    ['signed by another', { caBundle: undefined }, 'certificate signed by unknown authority'],
    [
      'for another service',
      { service: 'other' },
      'certificate is valid for wardle.default.svc, not other.default.svc',
    ],
  ])('a server whose certificate is %s is told nothing', async (_how, change, why) => {
    const other = await startExtension();
    try {
      const name = 'service' in change ? change.service : 'wardle';
      const service = externalService() as { metadata: { name: string } };
      service.metadata.name = name;
      await api.call('POST', '/api/v1/namespaces/default/services', service);
      await register(api, extension, '', {
        service: { namespace: 'default', name, port: extension.port },
        ...('caBundle' in change && { caBundle: other.caBundle }),
      });
      const { status, body } = await api.call('GET', flunders);
      expect([status, body]).toEqual([503, expect.stringContaining(why)]);
      expect(extension.asked).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('one that is believed whoever it be is asked', async () => {
    await register(api, extension, '', { caBundle: undefined, insecureSkipTLSVerify: true });
    expect((await api.call('GET', flunders)).status).toBe(200);
  });
});

test('servers that hang keep neither other logical clusters waiting nor what is served here', async () => {
  const a = await api.addCluster('root:a');
  await api.call('POST', `/clusters/${a}/api/v1/namespaces`, {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'kube-system' },
  });
  await register(api, extension, `/clusters/${a}`);
  extension.instead = () => true;
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  const transport = api.server.transport(admin);
  const hanging = Array.from({ length: 64 }, () =>
    transport({ method: 'GET', url: `/clusters/${a}${flunders}`, headers: {}, signal: gone.signal }),
  );
  await eventually(() => expect(extension.asked).toHaveLength(64));
  expect((await api.call('GET', `/clusters/${a}${flunders}`)).body.reason).toBe('TooManyRequests');
  expect((await api.call('GET', `/clusters/${a}/api/v1/namespaces`)).status).toBe(200);
  await register(api, extension, '');
  extension.instead = undefined;
  expect((await api.call('GET', flunders)).status).toBe(200);
  gone.abort();
  await Promise.all(hanging);
  await eventually(async () =>
    expect((await api.call('GET', `/clusters/${a}${flunders}`)).status).not.toBe(429),
  );
});

test('no secret is in a log', async () => {
  const lines: unknown[] = [];
  const log = (...said: unknown[]) => void lines.push(JSON.stringify(said));
  const logger: ServerLogger = { debug: log, info: log, error: log };
  await api.close();
  api = startApi({ logger });
  await register(api, extension);
  const headers = { authorization: 'Bearer secret-token', cookie: 'secret-cookie' };
  await api.call('GET', flunders, undefined, headers);
  extension.instead = (request) => {
    request.socket.destroy();
    return true;
  };
  expect((await api.call('POST', flunders, { secret: 'secret-body' }, headers)).status).toBe(503);
  expect(lines.join('\n')).not.toMatch(/secret-|PRIVATE KEY/);
});
