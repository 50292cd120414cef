import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApiServer } from '../../../apiserver/server.ts';
import { onPage } from '../../../server/metrics/family.ts';
import { RequestMetrics } from '../../../server/metrics/requests.ts';
import { pageOf } from '../../../server/metrics/text.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, admin, call, startApi } from './api.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const monitor = { name: 'prometheus', groups: ['system:authenticated'] };

let api: Api;
let metrics: RequestMetrics;
beforeEach(() => {
  metrics = new RequestMetrics();
  api = startApi({
    observer: metrics,
    metrics: (accept, only) => pageOf(onPage(metrics.families(), only), accept),
  });
});
afterEach(() => api.close());

function as(user: typeof monitor, method: string, url: string) {
  return call(api.server.transport(user), method, url);
}

async function scraped(): Promise<string> {
  const { body } = await api.call('GET', '/metrics');
  return String(body);
}

async function permit(path: string): Promise<void> {
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  const metadata = { name: 'metrics' };
  const role = await api.call('POST', `${path}${rbac}/clusterroles`, { metadata, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'metrics' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'prometheus' }];
  const bound = await api.call('POST', `${path}${rbac}/clusterrolebindings`, { metadata, roleRef, subjects });
  expect([role.status, bound.status]).toEqual([201, 201]);
}

describe('/metrics', () => {
  it('is for whoever may get it in root', async () => {
    const refused = await as(monitor, 'GET', '/metrics');
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe('forbidden: User "prometheus" cannot get path "/metrics"');
    await permit('');
    expect((await as(monitor, 'GET', '/metrics')).status).toBe(200);
    expect((await as(monitor, 'POST', '/metrics')).status).toBe(403);
    expect((await api.call('DELETE', '/metrics')).status).toBe(405);
    expect((await api.call('POST', '/metrics')).body).toContain('apiserver_request_total');
    expect((await api.call('GET', '/clusters/root/metrics')).status).toBe(200);
    expect((await api.call('GET', '/')).body.paths).toContain('/metrics');
  });

  it('has what came of checks of health on a page of its own', async () => {
    await api.call('GET', '/livez');
    await api.call('GET', '/readyz/store');
    await api.call('GET', '/readyz?exclude=store');
    const { body, status } = await api.call('GET', '/metrics/slis');
    expect(status).toBe(200);
    expect(String(body)).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1');
    const count = (name: string, type: string) =>
      `kubernetes_healthchecks_total{name="${name}",status="success",type="${type}"}`;
    expect(String(body)).toContain(`${count('store', 'readyz')} 1`);
    expect(String(body)).toContain(`${count('ping', 'readyz')} 1`);
    expect(String(body)).not.toContain('apiserver_');
    expect(await scraped()).not.toContain('kubernetes_healthcheck');
    expect((await as(monitor, 'GET', '/metrics/slis')).status).toBe(403);
    expect((await api.call('GET', '/')).body.paths).toContain('/metrics/slis');
  });

  it('is in no other logical cluster, whoever asks', async () => {
    await api.addCluster('root:team');
    await permit('/clusters/root:team');
    expect((await as(monitor, 'GET', '/metrics')).status).toBe(403);
    expect((await as(monitor, 'GET', '/clusters/root:team/metrics')).status).toBe(404);
    expect((await api.call('GET', '/clusters/root:team/metrics')).status).toBe(404);
    expect((await api.call('GET', '/clusters/*/metrics')).status).toBe(404);
    expect((await api.call('GET', '/clusters/root:team/')).body.paths).not.toContain('/metrics');
  });

  it('names no logical cluster, namespace, object or user', async () => {
    const id = await api.addCluster('root:secret-team');
    const object = { metadata: { name: 'secret-object' } };
    await api.call('POST', '/clusters/root:secret-team/api/v1/namespaces/default/configmaps', object);
    await api.call('GET', '/api/v1/namespaces/secret-space/pods/secret-pod/secret-sub?secret=secret-value');
    await as({ name: 'secret-user', groups: ['secret-group'] }, 'GET', '/secret-path');
    const text = await scraped();
    expect(text).toContain('resource="configmaps"');
    expect(text).not.toContain('secret-');
    expect(text).not.toContain(id);
  });

  it('is not there where nothing is counted', async () => {
    const store = openMemory();
    const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
    expect((await call(server.transport(admin), 'GET', '/metrics')).status).toBe(404);
    await server.close();
    await store.close();
  });
});

describe('a watch', () => {
  it('counts as long as it lasts, and with its events when it ends', async () => {
    const gone = new AbortController();
    const url = '/api/v1/namespaces/default/configmaps?watch=1';
    const { body } = await api.server.transport(admin)({
      method: 'GET',
      url,
      headers: {},
      signal: gone.signal,
    });
    const labels =
      'verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace"';
    expect(await scraped()).toContain(`apiserver_longrunning_requests{${labels},component="apiserver"} 1`);
    expect(await scraped()).not.toContain('apiserver_request_total{verb="WATCH"');
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
    const made = await api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } });
    expect(made.status).toBe(201);
    await setImmediate();
    expect(await scraped()).toContain(
      'apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 1',
    );
    gone.abort();
    await setImmediate();
    const text = await scraped();
    expect(text).toContain(`apiserver_longrunning_requests{${labels},component="apiserver"} 0`);
    expect(text).toContain('apiserver_request_total{verb="WATCH"');
    expect(body).toBeDefined();
  });
});
