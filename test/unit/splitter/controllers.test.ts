import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import type { PhysicalClusterSpec, Placement, PlacementSpec } from '../../../cluster/types.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { startScheduler } from '../../../scheduler/controller.ts';
import { startSplitter } from '../../../splitter/controller.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { FakeApi } from './fake-api.ts';

const settleMs = 60;
let api: FakeApi;
let stop: AbortController;
let done: Promise<unknown>;
/** Physical copies: cluster/name -> replicas; the fewest replicas of `web` that ever were. */
let copies: Map<string, number>;
let fewest: number;

beforeEach(() => {
  api = new FakeApi();
  copies = new Map();
  fewest = Number.POSITIVE_INFINITY;
  stop = new AbortController();
  api.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  cluster('a');
  cluster('b');
});
afterEach(async () => {
  stop.abort();
  await done;
});

function cluster(name: string, spec: Partial<PhysicalClusterSpec> = {}): void {
  api.put('physicalclusters', {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name },
    spec: { kubeconfigSecretRef: { namespace: 'n', name }, ...spec },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

function start(): void {
  stop = new AbortController();
  const { signal } = stop;
  const client = new Client(api.transport);
  const informers = new InformerSet(client, { cluster: '*', signal });
  const options = { client, informers, signal, logger: silentLogger };
  done = Promise.all([startScheduler(options), startSplitter({ ...options, settleMs }), syncers(signal)]);
}

/** Both clusters' syncers: apply what the shares say, and say so a moment later. */
async function syncers(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const record of api.all('placements') as Placement[]) {
      for (const name of Object.keys(record.spec?.shares ?? {})) sync(record, name);
    }
    const web = [...copies].filter(([key]) => key.endsWith('/web'));
    if (web.length > 0)
      fewest = Math.min(
        fewest,
        web.reduce((sum, [, n]) => sum + n, 0),
      );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function sync(record: Placement, cluster: string): void {
  const { ref, shares = {} } = record.spec as PlacementSpec;
  const share = shares[cluster];
  const key = `${cluster}/${ref.name}`;
  const root = api.get(ref.resource, ref.name);
  if (!share) return;
  if (share.phase === 'Leaving') copies.delete(key);
  else if (root) copies.set(key, share.replicas ?? 1);
  const n = share.replicas ?? 0;
  const numbers = { replicas: n, readyReplicas: n, updatedReplicas: n, availableReplicas: n };
  const slice = copies.has(key)
    ? {
        present: true,
        share: {
          ...(share.replicas !== undefined && { replicas: n }),
          ...(share.scaled && { scaled: share.scaled }),
        },
        observedGeneration: root?.metadata.generation ?? 0,
        ...(ref.kind === 'Deployment' && { status: numbers }),
      }
    : { present: false };
  const before = record.status?.clusters?.[cluster];
  if (JSON.stringify(before) === JSON.stringify(slice)) return;
  const status = { ...record.status, clusters: { ...record.status?.clusters, [cluster]: slice } };
  api.put('placements', { ...record, status });
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });
const spec = (name: string) => api.get('placements', name)?.spec as PlacementSpec | undefined;
const shares = (name: string) =>
  Object.entries(spec(name)?.shares ?? {}).map(
    ([c, s]) => `${c}=${s.phase}${s.replicas === undefined ? '' : ` ${s.replicas}`}`,
  );
const web = 'web.deployments.apps';
const conf = 'conf.configmaps';

function createWeb(metadata: ObjectMeta = {}): void {
  const podSpec = { volumes: [{ configMap: { name: 'conf' } }] };
  const { object } = deployment('web', { replicas: 4, podSpec, metadata: { generation: 1, ...metadata } });
  api.put('deployments', object);
  api.put('configmaps', placed('ConfigMap', 'conf').object);
}

function annotate(value: string): void {
  const root = api.get('deployments', 'web') as KubeObject;
  const annotations = { 'atoll.dev/clusters': value, 'atoll.dev/placed-by': 'me' };
  api.put('deployments', { ...root, metadata: { ...root.metadata, annotations } });
}

/** Nothing is written any more. */
async function quiet(): Promise<void> {
  let before = -1;
  await vi.waitFor(
    () => {
      const now = api.writes;
      const same = now === before;
      before = now;
      expect(same).toBe(true);
    },
    { timeout: 60_000, interval: 3 * settleMs },
  );
}

test('a workload and what it uses are placed, moved and deleted', async () => {
  start();
  createWeb();
  await until(() => expect(shares(web)).toEqual(['a=Active 4']));
  await until(() => expect(shares(conf)).toEqual(['a=Active']));
  await until(() => expect(api.get('deployments', 'web')?.status).toMatchObject({ availableReplicas: 4 }));
  expect(api.get('deployments', 'web')?.metadata.annotations?.['atoll.dev/clusters']).toBe('a');

  annotate('a,b');
  await until(() => expect(shares(web)).toEqual(['a=Active 2', 'b=Active 2']));
  annotate('b');
  await until(() => expect(shares(web)).toEqual(['b=Active 4']));
  await until(() => expect(shares(conf)).toEqual(['b=Active']));
  expect([...copies.keys()].sort()).toEqual(['b/conf', 'b/web']);
  expect(fewest).toBe(4);
  await quiet();
  expect(api.get('placements', web)?.status).toMatchObject({ clusters: { b: { present: true } } });
  expect(Object.keys((api.get('placements', web) as Placement).status?.clusters ?? {})).toEqual(['b']);

  api.remove('deployments', 'web');
  await until(() => expect(api.all('placements')).toEqual([]));
  expect(copies.size).toBe(0);
});

test('a drain moves it, and a restart in the middle resumes where it was', async () => {
  createWeb();
  start();
  await until(() => expect(shares(web)).toEqual(['a=Active 4']));
  cluster('a', { unschedulable: true, drain: true });
  await until(() => expect(shares(web)).toHaveLength(2));
  stop.abort();
  await done;
  start();
  await until(() => expect(shares(web)).toEqual(['b=Active 4']));
  expect(fewest).toBe(4);
  await quiet();
});

test('where nothing else fits, a drain leaves it in place until something does', async () => {
  cluster('b', { unschedulable: true });
  createWeb();
  start();
  await until(() => expect(shares(web)).toEqual(['a=Active 4']));
  cluster('a', { unschedulable: true, drain: true });
  await until(() => expect(spec(web)?.reasons?.['a']).toContain('it stays'));
  await quiet();
  expect(shares(web)).toEqual(['a=Active 4']);
  cluster('b');
  await until(() => expect(shares(web)).toEqual(['b=Active 4']));
  expect(fewest).toBe(4);
});

test('an autoscaler’s bounds follow the shares of what it scales', async () => {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const bounds = { minReplicas: 4, maxReplicas: 8, scaleTargetRef };
  createWeb();
  api.put('horizontalpodautoscalers', placed('HorizontalPodAutoscaler', 'hpa', { spec: bounds }).object);
  start();
  const hpa = () => spec('hpa.horizontalpodautoscalers.autoscaling')?.shares;
  await until(() => expect(hpa()).toEqual({ a: { phase: 'Active', replicas: 4, maxReplicas: 8 } }));
  annotate('a,b');
  await until(() => expect(shares(web)).toEqual(['a=Active 2', 'b=Active 2']));
  const half = { phase: 'Active', replicas: 2, maxReplicas: 4 };
  await until(() => expect(hpa()).toEqual({ a: half, b: half }));
});

test('what a workload names comes along when it is made last, whatever else there is', async () => {
  for (let i = 0; i < 20; i++) api.put('configmaps', placed('ConfigMap', `unused-${i}`).object);
  const podSpec = { volumes: [{ configMap: { name: 'conf' } }] };
  api.put('deployments', deployment('web', { replicas: 1, podSpec }).object);
  start();
  await until(() => expect(shares(web)).toEqual(['a=Active 1']));
  await quiet();
  api.put('configmaps', placed('ConfigMap', 'unused-more').object);
  api.put('configmaps', placed('ConfigMap', 'conf').object);
  await until(() => expect(shares(conf)).toEqual(['a=Active']));
  await quiet();
  expect(api.all('placements').map((p) => p.metadata.name)).toEqual(expect.arrayContaining([web, conf]));
  expect(api.all('placements')).toHaveLength(2);
});
