import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Api,
  admin,
  configMap,
  configMaps,
  deployment,
  deployments,
  startApi,
  take,
  watch,
} from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

type Named = { metadata: { name: string; annotations?: Record<string, string> } };
const names = (body: { items: Named[] }) => body.items.map((item) => item.metadata.name);

describe('list', () => {
  beforeEach(async () => {
    for (let i = 0; i < 5; i++) await api.call('POST', configMaps, configMap(`c${i}`, {}, { n: String(i) }));
  });

  test('pages show one revision', async () => {
    const first = (await api.call('GET', `${configMaps}?limit=2`)).body;
    expect(names(first)).toEqual(['c0', 'c1']);
    expect(first.metadata.remainingItemCount).toBe(3);
    await api.call('POST', configMaps, configMap('c11'));
    const token = encodeURIComponent(first.metadata.continue);
    const second = (await api.call('GET', `${configMaps}?limit=9&continue=${token}`)).body;
    expect(names(second)).toEqual(['c2', 'c3', 'c4']);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second.metadata.continue).toBeUndefined();
  });

  test('beside a token there is no revision, which is said once it is one', async () => {
    const { metadata } = (await api.call('GET', `${configMaps}?limit=2`)).body;
    const messages = [metadata.continue, 'abc'].map(async (token) => {
      const url = `${configMaps}?resourceVersion=1&continue=${encodeURIComponent(token)}`;
      const { status, body } = await api.call('GET', url);
      return [status, body.message];
    });
    expect(await Promise.all(messages)).toEqual([
      [400, 'specifying resource version is not allowed when using continue'],
      [400, expect.stringContaining('invalid continue token: continue key is not valid: ')],
    ]);
  });

  test('pages by selector', async () => {
    const first = (await api.call('GET', `${configMaps}?limit=1&labelSelector=n%20in%20(1,3)`)).body;
    expect(names(first)).toEqual(['c1']);
    const token = encodeURIComponent(first.metadata.continue);
    const second = (
      await api.call('GET', `${configMaps}?limit=1&labelSelector=n%20in%20(1,3)&continue=${token}`)
    ).body;
    expect(names(second)).toEqual(['c3']);
  });

  test.each([
    ['labelSelector=n%3D3', ['c3']],
    ['labelSelector=n%20notin%20(0,1,2)', ['c3', 'c4']],
    ['fieldSelector=metadata.name%3Dc2', ['c2']],
    ['fieldSelector=metadata.name!%3Dc2,metadata.namespace%3Ddefault', ['c0', 'c1', 'c3', 'c4']],
    ['resourceVersion=0&limit=500', ['c0', 'c1', 'c2', 'c3', 'c4']],
  ])('%s', async (query, expected) => {
    expect(names((await api.call('GET', `${configMaps}?${query}`)).body)).toEqual(expected);
  });

  test.each(['limit', 'limit=', 'timeoutSeconds=', 'watch=true&timeoutSeconds='])(
    'what is empty is no number: %s',
    async (query) => {
      const { status, body } = await api.call('GET', `${configMaps}?${query}`);
      expect([status, body.message]).toEqual([400, 'strconv.ParseInt: parsing "": invalid syntax']);
    },
  );

  test('exact and not older than', async () => {
    const { body } = await api.call('GET', `${configMaps}/c3`);
    const at = body.metadata.resourceVersion;
    const exact = await api.call('GET', `${configMaps}?resourceVersion=${at}&resourceVersionMatch=Exact`);
    expect(names(exact.body)).toEqual(['c0', 'c1', 'c2', 'c3']);
    const newer = await api.call(
      'GET',
      `${configMaps}?resourceVersion=${at}&resourceVersionMatch=NotOlderThan`,
    );
    expect(names(newer.body)).toHaveLength(5);
  });

  test.each([
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['resourceVersion=abc', 400],
    ['limit=abc', 400],
    ['continue=abc', 400],
    ['labelSelector=a%20in', 400],
    ['fieldSelector=spec.x%3D1', 400],
    ['sendInitialEvents=true', 422],
    ['resourceVersion=1&resourceVersionMatch=Exact&limit=1', 200],
    ['resourceVersionMatch=Exact&limit=abc', 400],
    ['resourceVersionMatch=Exact&timeoutSeconds=abc', 400],
  ])('%s is %d', async (query, code) => {
    expect((await api.call('GET', `${configMaps}?${query}`)).status).toBe(code);
  });

  test('one by its name is as it is now, with a limit too, where a page would be as it was', async () => {
    const { body } = await api.call('GET', configMaps);
    const at = body.metadata.resourceVersion;
    await api.call('PATCH', `${configMaps}/c1`, { data: { v: 'now' } });
    const asked = `resourceVersion=${at}&limit=5`;
    const one = await api.call('GET', `${configMaps}?${asked}&fieldSelector=metadata.name%3Dc1`);
    expect(one.body.items.map((item: { data: unknown }) => item.data)).toEqual([{ v: 'now' }]);
    const page = await api.call('GET', `${configMaps}?${asked}&labelSelector=!none`);
    expect(page.body.metadata.resourceVersion).toBe(at);
  });

  test('a revision that is not reached is waited for, then 504', async () => {
    const { body } = await api.call('GET', `${configMaps}?resourceVersion=99999`);
    expect(body).toMatchObject({ code: 504, reason: 'Timeout', details: { retryAfterSeconds: 1 } });
  });
});

describe('forms', () => {
  beforeEach(async () => {
    await api.call('POST', deployments, deployment('web'));
  });

  test.each(['', '&watch=true&resourceVersion=0'])(
    'a Table that is to include nobody knows what is refused before it begins: %s',
    async (how) => {
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      const url = `/api/v1/configmaps?includeObject=Bogus${how}`;
      const { status, body } = await api.call('GET', url, undefined, { accept });
      expect([status, body.message]).toEqual([
        400,
        `Unable to convert to Table as requested: includeObject: Invalid value: "Bogus": must be 'Metadata', 'Object', 'None', or empty`,
      ]);
    },
  );

  test('Table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const { body } = await api.call('GET', deployments, undefined, { accept });
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(body.columnDefinitions[0].name).toBe('Name');
    expect(body.rows[0].cells[0]).toBe('web');
    expect(body.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'web' } });
  });

  test('the Table of an autoscaler is the same in either version', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const pathOf = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const pods = { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1500m' } };
    const made = await api.call('POST', pathOf('v2'), {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: [{ type: 'Pods', pods }],
      },
    });
    expect(made.status).toBe(201);
    const [v1, v2] = await Promise.all(
      ['v1', 'v2'].map((version) => api.call('GET', `${pathOf(version)}/web`, undefined, { accept })),
    );
    expect(v1?.body.rows[0].cells).toEqual(v2?.body.rows[0].cells);
    expect(v1?.body.rows[0].object.metadata).toEqual(v2?.body.rows[0].object.metadata);
    expect(v1?.body.rows[0].cells).toContain('<unknown>/1500m');
  });

  test('PartialObjectMetadata, YAML, protobuf', async () => {
    const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const { body } = await api.call('GET', deployments, undefined, { accept: partial });
    expect(body.kind).toBe('PartialObjectMetadataList');
    const none = await api.call('GET', '/api/v1/namespaces/none/configmaps', undefined, { accept: partial });
    expect(none.body).toMatchObject({ kind: 'PartialObjectMetadataList', items: null });
    const packed = { accept: partial.replace('/json', '/vnd.kubernetes.protobuf') };
    expect((await api.call('GET', '/api/v1/namespaces/none/configmaps', undefined, packed)).status).toBe(200);
    expect(body.items[0]).not.toHaveProperty('spec');
    const yaml = await api.call('GET', `${deployments}/web`, undefined, { accept: 'application/yaml' });
    expect(yaml.body).toContain('kind: Deployment\n');
    const protobuf = await api.call('GET', `${deployments}/web`, undefined, {
      accept: 'application/vnd.kubernetes.protobuf',
    });
    expect(protobuf.headers['content-type']).toBe('application/vnd.kubernetes.protobuf');
    expect(protobuf.body.startsWith('k8s\0')).toBe(true);
    expect((await api.call('GET', deployments, undefined, { accept: 'text/plain' })).status).toBe(406);
  });

  test('lists of built-in kinds do not repeat the kind', async () => {
    const { body } = await api.call('GET', deployments);
    expect(body).toMatchObject({ kind: 'DeploymentList', apiVersion: 'apps/v1' });
    expect(body.items[0]).not.toHaveProperty('kind');
  });

  test('autoscaling/v1 and v2 are one object', async () => {
    const url = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    await api.call('POST', url('v1'), {
      metadata: { name: 'h' },
      spec: {
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    });
    const { body } = await api.call('GET', `${url('v2')}/h`);
    expect(body).toMatchObject({
      apiVersion: 'autoscaling/v2',
      spec: { metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 50 } } }] },
    });
    expect((await api.call('GET', `${url('v1')}/h`)).body.spec.targetCPUUtilizationPercentage).toBe(50);
  });

  test('what autoscaling/v1 says in annotations is no annotation of v2, however it is written', async () => {
    const url = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const prefix = 'autoscaling.alpha.kubernetes.io/';
    const annotations = { [`${prefix}metrics`]: '[]', [`${prefix}conditions`]: 'text', a: 'b' };
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const one = { metadata: { name: 'h', annotations }, spec: { maxReplicas: 3, scaleTargetRef } };
    const written = [
      await api.call('POST', url, one),
      await api.call('PUT', `${url}/h`, one),
      await api.call('PATCH', `${url}/h`, { metadata: { annotations } }),
      await api.call('GET', `${url}/h`),
    ];
    expect(written.map(({ body }) => body.metadata.annotations)).toEqual(Array(4).fill({ a: 'b' }));
  });
});

describe('watch', () => {
  const stream = (query: string, url = configMaps) =>
    watch(api.server.transport(admin), `${url}?watch=1&${query}`);

  test('from a revision: what came after, in order, once', async () => {
    const first = (await api.call('POST', configMaps, configMap('a'))).body;
    await api.call('PATCH', `${configMaps}/a`, { data: { x: '1' } });
    const events = stream(`resourceVersion=${first.metadata.resourceVersion}`);
    const [modified] = await take(events, 1);
    await api.call('DELETE', `${configMaps}/a`);
    const [deleted] = await take(events, 1);
    expect([modified?.type, deleted?.type]).toEqual(['MODIFIED', 'DELETED']);
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(modified?.object.metadata.resourceVersion),
    );
    await events.return(undefined);
  });

  test('sendInitialEvents: what is there, then the mark', async () => {
    await api.call('POST', configMaps, configMap('a'));
    await api.call('POST', configMaps, configMap('b'));
    const events = stream(
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    );
    const [a, b, mark] = await take(events, 3);
    expect([a?.object.metadata.name, b?.object.metadata.name]).toEqual(['a', 'b']);
    expect(mark).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await api.call('POST', configMaps, configMap('c'));
    expect((await take(events, 1))[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'c' } } });
    await events.return(undefined);
  });

  test('sendInitialEvents: what is there by a revision that is not reached is an ERROR in the stream', async () => {
    const asked = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = stream(`${asked}&resourceVersion=99999`);
    const [first] = await take(events, 1);
    expect(first).toMatchObject({
      type: 'ERROR',
      object: { code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
    });
    await events.return(undefined);
  });

  test('objects enter and leave a selection', async () => {
    await api.call('POST', configMaps, configMap('a', { v: '1' }));
    const events = stream('labelSelector=x%3D1&resourceVersion=1');
    await api.call('PATCH', `${configMaps}/a`, { metadata: { labels: { x: '1' } } });
    await api.call('PATCH', `${configMaps}/a`, { data: { v: '2' } });
    const left = await api.call('PATCH', `${configMaps}/a`, { metadata: { labels: { x: '2' } } });
    const seen = await take(events, 3);
    expect(seen.map((e) => e.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(seen[2]?.object.metadata).toMatchObject({
      labels: { x: '1' },
      resourceVersion: left.body.metadata.resourceVersion,
    });
    await events.return(undefined);
  });

  test('timeoutSeconds ends it with a bookmark', async () => {
    await api.call('POST', configMaps, configMap('a'));
    const events = await take(stream('resourceVersion=1&timeoutSeconds=1&allowWatchBookmarks=true'), 9);
    expect(events.map((e) => e.type)).toEqual(['ADDED', 'BOOKMARK']);
  });

  test('one of which nothing is written says how far it is when it is asked to', async () => {
    await api.call('POST', configMaps, configMap('a'));
    const events = stream('resourceVersion=1&allowWatchBookmarks=true');
    const silent = stream('resourceVersion=1');
    await Promise.all([take(events, 1), take(silent, 1)]);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
    const { body } = await api.call('POST', '/api/v1/namespaces/default/secrets', secret);
    api.server.tellProgress();
    const [mark] = await take(events, 1);
    expect(mark).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: body.metadata.resourceVersion } },
    });
    await api.call('POST', configMaps, configMap('b'));
    expect((await take(silent, 1))[0]?.type).toBe('ADDED');
    await Promise.all([events.return(undefined), silent.return(undefined)]);
  });

  test('closing the server ends it, and /readyz says so', async () => {
    const events = stream('allowWatchBookmarks=true');
    const pending = take(events, 9);
    expect((await api.call('GET', '/readyz')).body).toBe('ok');
    await api.server.close();
    expect((await pending).every((e) => e.type === 'BOOKMARK')).toBe(true);
    expect((await api.call('GET', '/readyz')).status).toBe(500);
    expect((await api.call('GET', '/livez')).status).toBe(200);
  });
});

test('a compacted revision: 410 in the stream', async () => {
  const { openMemory } = await import('../../../storage/memory/memory.ts');
  const store = openMemory();
  const own = startApi({ store });
  await own.call('POST', configMaps, configMap('a'));
  await own.call('POST', configMaps, configMap('b'));
  await store.compact(store.revision);
  const events = watch(own.server.transport(admin), `${configMaps}?watch=1&resourceVersion=1`);
  const [error, ...rest] = await take(events, 2);
  expect(error).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  expect(rest).toEqual([]);
  await own.close();
});

describe('logical clusters', () => {
  let id: string;
  beforeEach(async () => {
    id = await api.addCluster('root:a');
    await api.call('POST', configMaps, configMap('one'));
    await api.call('POST', `/clusters/root:a${configMaps}`, configMap('two'));
  });

  test('are apart', async () => {
    expect(names((await api.call('GET', configMaps)).body)).toEqual(['one']);
    expect(names((await api.call('GET', `/clusters/root${configMaps}`)).body)).toEqual(['one']);
    expect(names((await api.call('GET', `/clusters/root:a${configMaps}`)).body)).toEqual(['two']);
  });

  test('are seen together by wildcard, each object saying whose it is', async () => {
    const { body } = await api.call('GET', '/clusters/*/api/v1/configmaps');
    const seen = body.items.map((i: Named) => [i.metadata.name, i.metadata.annotations?.['kcp.io/cluster']]);
    const each = [
      ['one', 'root'],
      ['two', id],
    ].sort();
    expect(seen.sort()).toEqual(each);
    const events = watch(api.server.transport(admin), '/clusters/*/api/v1/configmaps?watch=1');
    const first = await take(events, 2);
    const told = first.map(({ object: { metadata } }) => [
      metadata.name,
      metadata.annotations?.['kcp.io/cluster'],
    ]);
    expect(told.sort()).toEqual(each);
    await events.return(undefined);
    expect(
      (await api.call('POST', '/clusters/*/api/v1/namespaces', { metadata: { name: 'x' } })).status,
    ).toBe(405);
  });

  test('are closed to users without rights', async () => {
    const bob = api.server.transport({ name: 'bob', groups: ['system:authenticated'] });
    const answer = await bob({ method: 'GET', url: '/clusters/*/api/v1/secrets', headers: {} });
    expect(answer.status).toBe(403);
    expect(JSON.parse(Buffer.from(answer.body as Uint8Array).toString()).message).toBe(
      'secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" at the cluster scope',
    );
  });
});
