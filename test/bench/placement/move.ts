import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { placements } from '../../../cluster/names.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { connect, deployments, percentile } from '../load.ts';
import { beside, createDeployments, isSettled, makeNamespace, scaled, startStage, until } from './stage.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const times = 5;

/**
 * Moves a Deployment there and back, as its annotation says, and says what is left of the time without what the same
 * pods take to start and to stop on that cluster when nobody but its own controllers has to do with them.
 */
export async function move(): Promise<void> {
  const replicas = scaled(100);
  const stage = await startStage({ prefix: 'c', count: 2, pods: { nodes: 3, startMs: 1000, stopMs: 1000 } });
  const folder = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  try {
    const { client } = stage;
    const kubeconfig = join(folder, 'physical.kubeconfig');
    await writeFile(kubeconfig, stage.clusters.all[0]?.kubeconfig ?? '', { mode: 0o600 });
    const physical = await connect(kubeconfig, 4);
    const own = await ownTime(physical.client, replicas);
    physical.close();
    await makeNamespace(client, 'bench', 'c-0');
    await createDeployments(client, 1, () => ({ name: 'app', namespace: 'bench', replicas }));
    await untilOn(client, 'c-0');
    const took: number[] = [];
    for (let i = 1; i <= times; i++) {
      const to = `c-${i % 2}`;
      const from = performance.now();
      const metadata = { annotations: { 'atoll.dev/clusters': to } };
      await client.patch(deployments, { namespace: 'bench', name: 'app' }, 'merge', { metadata });
      await untilOn(client, to);
      took.push(performance.now() - from);
    }
    const name = `move of a Deployment of ${replicas} replicas`;
    const whole = percentile(took, 50);
    beside(`${name}: in all, median of ${times}, ms`, whole.toFixed(0), '-');
    beside(`${name}: its pods' start and stop without us, ms`, own.toFixed(0), '-');
    beside(`${name}: our own added time, ms`, (whole - own).toFixed(0), '<= 500');
  } finally {
    await stage.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilOn(client: Client, cluster: string): Promise<void> {
  await until(`it is on ${cluster}`, 300, 20, async () => {
    const at = { namespace: 'bench', name: 'app.deployments.apps' };
    const placement = await client.get<Placement>(placements, at).catch(() => undefined);
    const on = Object.keys(placement?.spec?.shares ?? {}).join();
    return { done: placement !== undefined && isSettled(placement) && on === cluster, seen: `on ${on}` };
  });
}

/** Milliseconds from a create until all is ready, and from a delete until no pod is there, of a median of three. */
async function ownTime(physical: Client, replicas: number): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < 3; i++) {
    const name = `own-${i}`;
    const from = performance.now();
    await createDeployments(physical, 1, () => ({ name, namespace: 'default', replicas }));
    await until('it is ready', 120, 20, async () => {
      type Deployment = KubeObject<unknown, { readyReplicas?: number }>;
      const { status } = await physical.get<Deployment>(deployments, { namespace: 'default', name });
      return { done: status?.readyReplicas === replicas, seen: `${status?.readyReplicas} are` };
    });
    await physical.delete(deployments, { namespace: 'default', name });
    await until('no pod is there', 120, 20, async () => {
      const { items } = await physical.list(pods, { labelSelector: `app=${name}` });
      return { done: items.length === 0, seen: `${items.length} are` };
    });
    took.push(performance.now() - from);
  }
  return percentile(took, 50);
}
