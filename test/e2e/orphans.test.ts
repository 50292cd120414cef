import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, mustJson, until } from '../atoll/kubectl.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

let server: Atoll;
let physical: Kubernetes;

beforeAll(async () => {
  physical = await startKubernetes({ name: 'east', nodes: 1 });
  server = await startAtoll();
  await must(server.kubeconfig, 'create', 'ns', 'shop');
  const added = await atoll(server.kubeconfig, 'cluster', 'add', 'east', '--kubeconfig', physical.kubeconfig);
  expect(added.code).toBe(0);
});
afterAll(async () => {
  await server?.dispose();
  await physical?.stop();
});

const container = { name: 'c', image: 'web:1', envFrom: [{ configMapRef: { name: 'settings' } }] };
const workload = (kind: string, name: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
    ...more,
  },
});
const web = workload('Deployment', 'web');
const db = workload('StatefulSet', 'db', { serviceName: 'db' });
const agent = workload('DaemonSet', 'agent');
Reflect.deleteProperty(agent.spec, 'replicas');
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b' } };

const shop = (...args: string[]) => must(server.kubeconfig, '-n', 'shop', ...args);
async function apply(...objects: object[]): Promise<void> {
  const file = join(server.dataDir, 'objects.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await shop('apply', '-f', file);
}

interface Seen {
  uid: string;
  phase: unknown;
  owner: string;
}

/** By name, what stands in the logical namespace, or on the physical cluster. */
async function seen(kind: string, where: 'here' | 'there' = 'here'): Promise<Record<string, Seen>> {
  const config = where === 'here' ? server.kubeconfig : physical.kubeconfig;
  const { items } = await mustJson<{ items: KubeObject[] }>(config, 'get', kind, '-A');
  const ours = items.filter(({ metadata }) => /^(root-)?shop/.test(metadata.namespace ?? ''));
  return Object.fromEntries(
    ours.map(({ metadata: { name = '', uid = '', ownerReferences = [] }, status }) => {
      const owner = ownerReferences.map((ref) => `${ref.kind}/${ref.name}/${ref.uid}`).join();
      return [name, { uid, phase: (status as { phase?: unknown } | undefined)?.phase, owner }];
    }),
  );
}

async function uidOf(kind: string, name: string): Promise<string> {
  return (await mustJson<KubeObject>(server.kubeconfig, '-n', 'shop', 'get', kind, name)).metadata.uid ?? '';
}
const uids = (of: Record<string, Seen>) => Object.entries(of).map(([name, { uid }]) => `${name}/${uid}`);

async function ready(): Promise<void> {
  await shop('rollout', 'status', 'deploy/web', '--timeout=180s');
  await shop('rollout', 'status', 'sts/db', '--timeout=180s');
}

/** Pods come up beside the status of what they are of: so many, each as it runs. */
const shown = (count: number) =>
  until(`${count} pods are shown`, 30, async () => {
    const all = await seen('pods');
    const run = Object.values(all).filter(({ phase }) => phase === 'Running');
    return run.length === count && Object.keys(all).length === count && all;
  });
const setShown = () =>
  until('a ReplicaSet is shown', 30, async () => {
    const all = await seen('rs');
    return Object.keys(all).length === 1 && all;
  });

async function orphaned(): Promise<void> {
  await until('nothing names an owner that is gone', 30, async () => {
    const left = [...Object.values(await seen('rs')), ...Object.values(await seen('pods'))];
    return left.every(({ owner }) => owner === '' || owner.startsWith('ReplicaSet/'));
  });
  await until(
    'it is gone there',
    30,
    async () => Object.keys(await seen('deploy,sts', 'there')).length === 0,
  );
}

let pods: Record<string, Seen>;
let sets: Record<string, Seen>;
let there: Record<string, Seen>;

test('what is deleted with --cascade=orphan leaves its pods running, here and there', async () => {
  await apply(settings, web, db);
  await ready();
  [pods, sets, there] = [await shown(4), await setShown(), await seen('pods', 'there')];
  await shop('delete', 'deploy/web', 'sts/db', '--cascade=orphan');
  await orphaned();
  const [set] = Object.entries(sets);
  const left = await seen('pods');
  expect(uids(left)).toEqual(uids(pods));
  for (const [name, { owner, phase }] of Object.entries(left)) {
    expect(phase).toBe('Running');
    expect(owner).toBe(name.startsWith('db-') ? '' : `ReplicaSet/${set?.[0]}/${set?.[1].uid}`);
  }
  expect(await seen('rs')).toEqual({ [set?.[0] ?? '']: { ...set?.[1], owner: '' } });
  expect(uids(await seen('pods', 'there'))).toEqual(uids(there));
  // Their requirements stay with them.
  expect(await seen('cm', 'there')).toHaveProperty('settings');
});

test('they are pods like any other, whatever server comes after', async () => {
  await server.restart();
  await until('it knows the cluster again', 30, () => shop('logs', 'db-0'));
  expect(await shop('logs', 'db-0')).toContain('hello from a pod of east');
  expect(await shop('exec', 'db-0', '--', 'echo', 'from inside')).toBe('from inside\n');
  await shop('delete', 'pod', 'db-1');
  await until('gone there', 30, async () => !Object.hasOwn(await seen('pods', 'there'), 'db-1'));
  const [lost = ''] = Object.keys(pods).filter((name) => name.startsWith('web-'));
  await shop('delete', 'pod', lost);
  await until('the ReplicaSet replaces it', 30, async () => Object.keys(await seen('pods')).length === 3);
  expect(Object.keys(await seen('pods'))).not.toContain(lost);
  pods = await seen('pods');
});

test('who comes after with the same selector adopts them', async () => {
  await apply(web, db);
  await ready();
  const [deployment, set] = [await uidOf('deploy', 'web'), await uidOf('sts', 'db')];
  await until('adopted', 30, async () => {
    const owners = [...Object.values(await seen('rs')), ...Object.values(await seen('pods'))];
    return owners.every(({ owner }) => owner !== '');
  });
  const now = await shown(4);
  expect(now['db-0']).toEqual({ ...pods['db-0'], owner: `StatefulSet/db/${set}` });
  expect(uids(now)).toEqual(expect.arrayContaining(uids(pods)));
  const owner = `Deployment/web/${deployment}`;
  expect(Object.values(await seen('rs'))).toEqual(Object.values(sets).map((rs) => ({ ...rs, owner })));
});

test('made anew at once, as operators do to resize a StatefulSet: nothing restarts', async () => {
  await apply(agent);
  await shop('rollout', 'status', 'ds/agent', '--timeout=180s');
  const before = uids(await shown(5));
  for (const killed of [false, true]) {
    await shop('delete', 'deploy/web', 'sts/db', 'ds/agent', '--cascade=orphan');
    if (killed) await server.restart();
    await apply(web, db, agent);
    await ready();
    const owners = [await uidOf('deploy', 'web'), await uidOf('sts', 'db'), await uidOf('ds', 'agent')];
    await until('adopted', 60, async () => {
      const all = [...Object.values(await seen('pods')), ...Object.values(await seen('rs'))];
      const top = all.filter(({ owner }) => !owner.startsWith('ReplicaSet/'));
      return top.every(({ owner }) => owners.includes(owner.split('/')[2] ?? ''));
    });
    expect(uids(await seen('pods'))).toEqual(before);
    expect(Object.keys(await seen('pods', 'there'))).toHaveLength(5);
  }
  await shop('delete', 'ds/agent');
  await until('a deletion as ever', 30, async () => Object.keys(await seen('pods')).length === 4);
});

test('the pods of a Job stay when it is deleted as clients other than kubectl do', async () => {
  const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } };
  await apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec });
  await shop('wait', 'job/once', '--for=condition=complete', '--timeout=180s');
  const ofJob = async () => Object.entries(await seen('pods')).filter(([name]) => name.startsWith('once-'));
  const [[name, pod]] = await until('its pod is shown', 30, async () => {
    const [found] = await ofJob();
    return found?.[1].phase === 'Succeeded' && ([found] as const);
  });
  const job = await uidOf('job', 'once');
  expect(pod.owner).toBe(`Job/once/${job}`);
  await must(server.kubeconfig, 'delete', '--raw', '/apis/batch/v1/namespaces/shop/jobs/once');
  await until('it is nobody’s', 30, async () => (await ofJob())[0]?.[1].owner === '');
  await until('gone there', 30, async () => Object.keys(await seen('jobs', 'there')).length === 0);
  expect(await ofJob()).toEqual([[name, { ...pod, owner: '' }]]);
  const { metadata } = await mustJson<KubeObject>(server.kubeconfig, '-n', 'shop', 'get', 'pod', name);
  expect(metadata.labels?.['batch.kubernetes.io/controller-uid']).toBe(job);
  await shop('delete', 'pod', name);
  await until('nothing is kept of it', 30, async () => !(await shop('get', 'placements')).includes('once'));
});

test('a ReplicaSet that was left behind is deleted where it is, without its pods or with them', async () => {
  const before = await seen('pods');
  const ofWeb = async (where: 'here' | 'there' = 'here') =>
    Object.entries(await seen('pods', where)).filter(([name]) => name.startsWith('web-'));
  await shop('delete', 'deploy/web', '--cascade=orphan');
  await shop('delete', 'rs', '-l', 'app=web', '--cascade=orphan', '--timeout=120s');
  await until('nobody owns its pods', 30, async () => (await ofWeb()).every(([, { owner }]) => owner === ''));
  expect(uids(await seen('pods'))).toEqual(uids(before));
  await apply(web);
  await until('adopted', 30, async () => (await ofWeb()).every(([, { owner }]) => owner !== ''));
  await setShown();
  expect(uids(await seen('pods'))).toEqual(uids(before));

  await shop('delete', 'deploy/web', '--cascade=orphan');
  await shop('delete', 'rs', '-l', 'app=web', '--timeout=120s');
  await until(
    'its pods are gone',
    30,
    async () => (await ofWeb()).length + (await ofWeb('there')).length === 0,
  );
  await until('nothing is kept of it', 30, async () => !(await shop('get', 'placements')).includes('web'));
  await apply(web);
  await ready();
});

test('a namespace that goes takes them along, without a trace', async () => {
  await shop('delete', 'deploy/web', 'sts/db', '--cascade=orphan');
  await orphaned();
  await shown(4);
  await must(server.kubeconfig, 'delete', 'ns', 'shop', '--timeout=180s');
  await until('nothing is left there', 60, async () => {
    const { items } = await mustJson<{ items: KubeObject[] }>(physical.kubeconfig, 'get', 'ns');
    return !items.some(({ metadata }) => metadata.name?.startsWith('root-shop'));
  });
  expect(await seen('pods,rs', 'there')).toEqual({});
});
