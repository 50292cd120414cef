import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import type { Placement } from '../../cluster/types.ts';
import { shardCount, shardOf } from '../../controller/shards.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../sim/cluster.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, until } from '../atoll/kubectl.ts';
import { type Etcd, startEtcd } from '../etcd/etcd.ts';
import { deployment, find, resources } from '../world/objects.ts';

const shards = Array.from({ length: shardCount }, (_, n) => `controllers-shard-${n}`);
const leases = ['scheduler', 'controllers', ...shards];

let etcd: Etcd;
let one: Atoll;
let two: Atoll;
let physical: SimulatedCluster[];
let directory: string;
/** Logical clusters, one at least in each shard. */
let clusters: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-spread-'));
  etcd = await startEtcd({ fsync: true });
  const args = ['--storage', `etcd://${etcd.endpoint}/spread`];
  [one, two] = await Promise.all([startAtoll({ args }), startAtoll({ args })]);
  physical = await Promise.all(
    ['east', 'west'].map((name, i) => startSimulatedCluster({ name, seed: i + 1 })),
  );
  for (const { name, kubeconfig } of physical) {
    const file = join(directory, `${name}.kubeconfig`);
    await writeFile(file, kubeconfig);
    expect((await atoll(one.kubeconfig, 'cluster', 'add', name, '--kubeconfig', file)).code).toBe(0);
  }
  const root = await clientOf(one);
  clusters = ['root'];
  for (let n = 0; new Set(clusters.map(shardOf)).size < shardCount; n++)
    clusters.push(await workspace(root, `w${n}`));
});
afterAll(async () => {
  await Promise.all([one.dispose(), two.dispose(), ...physical.map((cluster) => cluster.stop())]);
  await etcd.stop();
  await rm(directory, { recursive: true, force: true });
});

async function clientOf(server: Atoll): Promise<Client> {
  const transport = await transportFromKubeconfig(await readFile(server.kubeconfig, 'utf8'));
  return new Client(transport, { cluster: 'root' });
}

/** The id of its logical cluster, once that is there. */
async function workspace(root: Client, name: string): Promise<string> {
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await root.create(resources.workspaces, object);
  const ready = await until(`workspace ${name}`, 20, async () => {
    const found = await find(root, resources.workspaces, name, '');
    return (found?.['status'] as { phase?: string } | undefined)?.phase === 'Ready' ? found : undefined;
  });
  return (ready.spec as { cluster?: string }).cluster ?? '';
}

/** What the server said last that it leads, of what is shared out. */
function led(server: Atoll): string[] {
  const last = new Map<string, boolean>();
  for (const line of server.log().split('\n')) {
    const [, lease = ''] = /"lease":"([^"]*)"/.exec(line) ?? [];
    const [, msg = ''] = /"msg":"([^"]*)"/.exec(line) ?? [];
    if (/leading$/.test(msg)) last.set(lease, msg === 'leading');
  }
  return leases.filter((lease) => last.get(lease));
}

const bothHaveTheirPart = async () => {
  const [a, b] = [led(one), led(two)];
  return a.length === leases.length / 2 && [...a, ...b].sort().join() === [...leases].sort().join();
};

/** Everywhere: a Deployment comes to run on both, and what has lost its owner goes. */
async function work(server: Atoll, name: string): Promise<void> {
  const root = await clientOf(server);
  const map = (of: string, more = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: of, namespace: 'default', ...more },
  });
  for (const cluster of clusters) {
    const there = root.with({ cluster });
    await there.create(resources.deployments, deployment(name, 2, 'east,west'));
    const { uid = '' } = (await there.create(resources.configmaps, map(`${name}-owner`))).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: `${name}-owner`, uid }];
    await there.create(resources.configmaps, map(`${name}-owned`, { ownerReferences }));
    await there.delete(resources.configmaps, { namespace: 'default', name: `${name}-owner` });
  }
  for (const cluster of clusters) {
    const there = root.with({ cluster });
    const where = `in ${cluster}, of shard ${shardOf(cluster)}`;
    await until(`${name} runs on both ${where}`, 40, async () => {
      const placed = await find<Placement>(there, resources.placements, `${name}.deployments.apps`);
      expect(Object.values(placed?.spec?.shares ?? {}).map(({ phase }) => phase)).toEqual([
        'Active',
        'Active',
      ]);
      const found = await find(there, resources.deployments, name);
      expect(found?.['status']).toMatchObject({ readyReplicas: 2 });
      return true;
    });
    await until(
      `what ${name} left ${where} goes`,
      40,
      async () => (await find(there, resources.configmaps, `${name}-owned`)) === undefined,
    );
  }
}

/** Everywhere, with all that it made. */
async function remove(server: Atoll, name: string): Promise<void> {
  const root = await clientOf(server);
  const how = { propagationPolicy: 'Foreground' } as const;
  for (const cluster of clusters)
    await root.with({ cluster }).delete(resources.deployments, { namespace: 'default', name }, how);
  for (const cluster of clusters) {
    const there = root.with({ cluster });
    await until(`${name} has gone from ${cluster}`, 40, async () => {
      const left = await Promise.all(
        [resources.deployments, resources.replicasets, resources.pods, resources.placements].map((resource) =>
          there.list(resource, { namespace: 'default' }),
        ),
      );
      expect(left.flatMap(({ items }) => items).filter(({ metadata }) => isOf(name, metadata.name))).toEqual(
        [],
      );
      return true;
    });
  }
}

const isOf = (name: string, called = '') => called === name || new RegExp(`^${name}[-.]`).test(called);

/** What our own controllers said, each once: whatever happened twice was said twice. */
async function toldOnce(server: Atoll): Promise<number> {
  const root = await clientOf(server);
  type Said = KubeObject & { count?: number; reportingComponent?: string; reason?: string };
  const { items } = await root.list<Said>(resources.events, { cluster: '*' });
  const own = items.filter(({ reportingComponent = '' }) =>
    /^atoll-(scheduler|splitter)$/.test(reportingComponent),
  );
  for (const { count, reason, metadata } of own) expect(count, `${reason} ${metadata.name}`).toBe(1);
  return own.length;
}

it('each server has its part of the controllers, and all of them when the other is killed', async () => {
  await until('each has its part', 60, bothHaveTheirPart);
  expect([led(one), led(two)].filter((all) => all.includes('scheduler'))).toHaveLength(1);
  for (const server of [one, two])
    expect(led(server).filter((lease) => shards.includes(lease)).length).toBeGreaterThanOrEqual(3);
  await work(one, 'first');
  // Events come after what they tell of.
  const said = await until('all is told', 30, async () => {
    const count = await toldOnce(one);
    return count >= clusters.length && count;
  });
  const [killed, other] = led(one).includes('scheduler') ? [one, two] : [two, one];
  await killed.kill();
  // What is written meanwhile waits for it.
  const taken = until('the other has them all', 15, async () => led(other).length === leases.length);
  await Promise.all([taken, work(other, 'second')]);
  await remove(other, 'first');
  await until('the second is told, too', 30, async () => (await toldOnce(other)) > said);
  await killed.restart();
  await until('it has its part again', 60, bothHaveTheirPart);
  await work(killed, 'third');
  await remove(killed, 'second');
  await toldOnce(other);
});
