import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PodMetrics, podMetrics } from '../../../cluster/pod-metrics.ts';
import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { adminUser } from '../../../server/identity.ts';
import { eventually } from '../../eventually.ts';
import { deployment, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  const web = deployment('web', 4, 'east,west');
  const container = { name: 'web', image: 'web:1', resources: { requests: { cpu: '250m', memory: '64Mi' } } };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
  const whole = { ...web, spec: { ...(web.spec as object), template } };
  await world.admin.create(resources.deployments, whole, { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
});
afterEach(() => world.stop());

const list = (more: object = {}) =>
  world.admin.list<PodMetrics>(podMetrics, { namespace: 'default', ...more });
const answer = (status: number, body: object) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});
const ann: UserInfo = { name: 'ann', groups: ['system:authenticated'] };

describe('what pods use', () => {
  test('is told of all clusters, by the names that the pods have here', async () => {
    const pods = await until('all four are told of', async () => {
      const found = await world.admin.list(resources.pods, { namespace: 'default' });
      return found.items.length === 4 ? found : undefined;
    });
    const { items, kind, apiVersion } = await list();
    expect({ kind, apiVersion }).toEqual({ kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1' });
    const names = (all: readonly { metadata: { name?: string } }[]) =>
      all.map(({ metadata }) => metadata.name).sort();
    expect(names(items)).toEqual(names(pods.items));
    expect(items).toHaveLength(4);
    for (const { metadata, window, containers } of items) {
      expect(metadata).toMatchObject({ namespace: 'default', labels: { app: 'web' } });
      expect(window).toBe('10s');
      expect(containers).toEqual([{ name: expect.any(String), usage: { cpu: '250m', memory: '64Mi' } }]);
    }
    expect((await list({ labelSelector: 'app=other' })).items).toEqual([]);
    expect((await list({ namespace: undefined, labelSelector: 'app=web' })).items).toHaveLength(4);
    const [first] = items;
    const name = first?.metadata.name ?? '';
    expect(await world.admin.get(podMetrics, { namespace: 'default', name })).toMatchObject({
      kind: 'PodMetrics',
      metadata: { name, namespace: 'default' },
      containers: first?.containers,
    });
  });

  test('of a pod that is not there, or not measured, is not found', async () => {
    await expect(world.admin.get(podMetrics, { namespace: 'default', name: 'no' })).rejects.toMatchObject({
      code: 404,
      message: 'pods "no" not found',
    });
    const container = { name: 'c', image: 'i', resources: { requests: { cpu: '1000' } } };
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'nowhere' },
      spec: { containers: [container] },
    };
    await world.admin.create(resources.pods, pod, { namespace: 'default' });
    await expect(
      world.admin.get(podMetrics, { namespace: 'default', name: 'nowhere' }),
    ).rejects.toMatchObject({ code: 404, message: 'podmetrics.metrics.k8s.io "default/nowhere" not found' });
  });

  test('is all there is: who asks for what nodes use is told whom to ask', async () => {
    const nodes = { ...podMetrics, resource: 'nodes' };
    const elsewhere = {
      code: 404,
      reason: 'NotFound',
      message:
        'what nodes use is told by the physical clusters whose nodes they are, not here: ask there, or ask here for what pods use (kubectl top pods)',
    };
    await expect(world.admin.list(nodes)).rejects.toMatchObject(elsewhere);
    await expect(world.admin.get(nodes, { name: 'a' })).rejects.toMatchObject(elsewhere);
    await expect(world.as(ann).list(nodes)).rejects.toMatchObject({ code: 403 });
  });

  test('of a cluster that has none is left out, with a warning, were it of each; where none answers, that is said', async () => {
    const refuse = (name: string) => {
      world.physical(name).faults.instead = ({ url }) =>
        url.includes('/apis/metrics.k8s.io/')
          ? {
              status: 404,
              headers: { 'content-type': 'text/plain' },
              body: Buffer.from('404 page not found\n'),
            }
          : undefined;
    };
    refuse('east');
    const answer = await world.admin.raw({
      method: 'GET',
      path: '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods',
    });
    expect(String(answer.headers['warning'])).toContain(
      'cluster east serves no metrics.k8s.io: pods of it are left out',
    );
    expect((await list()).items).toHaveLength(2);
    refuse('west');
    const none = await world.admin.raw({ method: 'GET', path: '/apis/metrics.k8s.io/v1beta1/pods' });
    expect(none.headers['warning']).toHaveLength(2);
    expect((await list()).items).toEqual([]);
    const [{ metadata }] = (await world.admin.list(resources.pods, { namespace: 'default' })).items as [
      KubeObject,
    ];
    const { name = '' } = metadata;
    await expect(world.admin.get(podMetrics, { namespace: 'default', name })).rejects.toMatchObject({
      code: 404,
      message: `podmetrics.metrics.k8s.io "default/${name}" not found`,
    });
    for (const cluster of ['east', 'west'])
      world.physical(cluster).faults.instead = ({ url }) =>
        url.includes('/apis/metrics.k8s.io/')
          ? { status: 500, headers: { 'content-type': 'text/plain' }, body: Buffer.from('no\n') }
          : undefined;
    await expect(list()).rejects.toMatchObject({
      code: 503,
      message: 'cluster east does not say what its pods use; cluster west does not say what its pods use',
    });
  });

  test('is told of the others where a cluster hangs, which is not waited for twice and whose syncer goes on', async () => {
    const { faults } = world.physical('east');
    let asked = 0;
    faults.intercept = async ({ url, signal }) => {
      if (!url.includes('/apis/metrics.k8s.io/')) return;
      asked++;
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    };
    const many = (length: number) => Array.from({ length }, () => list());
    const first = many(4);
    await eventually(() => expect(asked).toBe(4));
    // They have time left when the first have none.
    const lists = await Promise.all([...first, ...many(36)]);
    expect(lists.map(({ items }) => items.length)).toEqual(Array.from({ length: 40 }, () => 2));
    expect(asked).toBeLessThanOrEqual(4);
    expect((await list()).items).toHaveLength(2);
    expect(asked).toBeLessThanOrEqual(4);
    const gone = AbortSignal.abort(new Error('the client has gone'));
    await expect(list({ signal: gone })).rejects.toThrow('the client has gone');
    await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'merge', {
      spec: { replicas: 6 },
    });
    await settled(world.admin, 'web.deployments.apps');
  });

  test('of a cluster that answered all that it was asked is told to others, though whoever asks of many namespaces runs out of time', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await world.admin.create(resources.namespaces, namespace);
      const web = deployment('web', 1, 'east');
      const metadata = { ...web.metadata, namespace: name };
      await world.admin.create(resources.deployments, { ...web, metadata }, { namespace: name });
    }
    await until('their pods are measured', async () => {
      const { items } = await list({ namespace: undefined });
      return items.length === 4 + names.length;
    });
    const { faults } = world.physical('east');
    faults.intercept = async ({ url, signal }) => {
      if (!url.includes('/apis/metrics.k8s.io/')) return;
      await new Promise((resolve, reject) => {
        setTimeout(resolve, 3_000);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    };
    const all = await world.admin.raw({ method: 'GET', path: '/apis/metrics.k8s.io/v1beta1/pods' });
    expect(String(all.headers['warning'])).toContain('cluster east does not say what its pods use');
    faults.intercept = () => {};
    expect((await list()).items).toHaveLength(4);
  });

  test('what does not parse is left out, and nothing is told of what a cluster says of itself', async () => {
    const { items } = await list();
    const broken = [
      { timestamp: 'now' },
      { window: 'x' },
      { containers: [{ name: 'c', usage: { cpu: 'abc' } }] },
    ];
    world.physical('east').faults.instead = ({ url }) =>
      url.includes('/apis/metrics.k8s.io/')
        ? answer(200, { items: items.map((item, i) => ({ ...item, ...broken[i % broken.length] })) })
        : undefined;
    world.physical('west').faults.instead = ({ url }) =>
      url.includes('/apis/metrics.k8s.io/')
        ? answer(403, {
            kind: 'Status',
            code: 403,
            reason: 'Forbidden',
            message: 'system:secret at 10.0.0.1',
          })
        : undefined;
    expect((await list()).items).toEqual([]);
    const path = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
    const { headers } = await world.admin.raw({ method: 'GET', path });
    expect(String(headers['warning'])).toContain('cluster west does not let Atoll read what its pods use');
    expect(String(headers['warning'])).not.toContain('secret');
    await expect(world.as(adminUser, '*').list(podMetrics)).rejects.toMatchObject({ code: 405 });
  });

  test('is numbers of pods, whatever a cluster says', async () => {
    const said = [null, { metadata: null, containers: {} }, { containers: [null, { usage: 1 }] }, 'x'];
    const names = (await list()).items.map(({ metadata }) => ({
      metadata,
      containers: [null, { usage: { cpu: 7 } }],
    }));
    const bodies: unknown[] = [{ items: {} }, { items: said }, { items: names }, [], null];
    for (const body of bodies) {
      for (const name of ['east', 'west'] as const)
        world.physical(name).faults.instead = ({ url }) =>
          url.includes('/apis/metrics.k8s.io/')
            ? {
                status: 200,
                headers: { 'content-type': 'application/json' },
                body: Buffer.from(JSON.stringify(body)),
              }
            : undefined;
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
      const path = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
      for (const accept of [{}, headers])
        expect((await world.admin.raw({ method: 'GET', path, headers: accept })).status).not.toBe(500);
    }
  });

  test('is left out where a cluster says more of it than anybody can need', async () => {
    const { items } = await list();
    world.physical('east').faults.instead = ({ url }) =>
      url.includes('/apis/metrics.k8s.io/')
        ? answer(200, { items, metadata: { note: 'x'.repeat(17 << 20) } })
        : undefined;
    const path = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
    const { headers } = await world.admin.raw({ method: 'GET', path });
    expect(String(headers['warning'])).toContain('cluster east does not say what its pods use');
    expect((await list()).items).toHaveLength(2);
  });

  test('is for whoever may read the pods, and nobody else', async () => {
    const asAnn = world.as(ann);
    await expect(asAnn.list(podMetrics, { namespace: 'default' })).rejects.toMatchObject({ code: 403 });
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' };
    await world.admin.create(
      rbac,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'ann' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
      } as never,
      { namespace: 'default' },
    );
    expect((await asAnn.list(podMetrics, { namespace: 'default' })).items).toHaveLength(4);
    await expect(asAnn.list(podMetrics)).rejects.toMatchObject({ code: 403 });
  });
});
