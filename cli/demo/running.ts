import type { Client } from '../../client/client.ts';
import type { ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';

type Deployment = KubeObject<
  { replicas?: number },
  { observedGeneration?: number; readyReplicas?: number; updatedReplicas?: number }
>;

/** A physical cluster as it is, not as it was last reported: the store may remember an earlier demo. */
export interface Physical {
  name: string;
  client: Client;
}

const deadlineMs = 60_000;

/**
 * Tells each change of each Deployment, until all are ready and run on every one of the clusters. After a minute it says
 * what is not: the data directory may hold work that leaves no room, or a cluster of before.
 */
export async function untilRunning(
  client: Client,
  deployments: ResourceRef,
  physical: readonly Physical[],
  step: (text: string) => void,
): Promise<void> {
  const shown = new Map<string, string>();
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const { items } = await client.list<Deployment>(deployments, { namespace: 'default' });
    const there = await Promise.all(
      physical.map(async ({ name, client: direct }) => ({
        name,
        items: (await direct.list<Deployment>(deployments)).items,
      })),
    );
    const states = items.map((item) => stateOf(item, there));
    for (const { name, text } of states) {
      if (shown.get(name) !== text) step(`deployment ${name}: ${text}`);
      shown.set(name, text);
    }
    if (states.every(({ ready }) => ready)) return;
    if (Date.now() > deadline) {
      const late = states.filter(({ ready }) => !ready).map(({ name }) => name);
      return step(`not ready within 60 s: ${late.join(', ')}; --log-level info says more`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function stateOf(
  { metadata, spec, status }: Deployment,
  there: readonly { name: string; items: readonly Deployment[] }[],
): { name: string; text: string; ready: boolean } {
  const name = metadata.name ?? '';
  const wanted = spec?.replicas ?? 1;
  const counts = there.map((cluster) => ({
    cluster: cluster.name,
    ready: cluster.items.find((item) => item.metadata.name === name)?.status?.readyReplicas ?? 0,
  }));
  const running = counts.reduce((sum, { ready }) => sum + ready, 0);
  const where = counts.map(({ cluster, ready }) => `${cluster}=${ready}`).join(' ');
  const reported = status?.readyReplicas === wanted && status.updatedReplicas === wanted;
  return {
    name,
    text: `${Math.min(running, status?.readyReplicas ?? 0)}/${wanted} ready, ${where}`,
    ready: running >= wanted && reported && counts.every(({ ready }) => ready > 0),
  };
}
