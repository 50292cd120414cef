import type { PhysicalCluster, Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { find, resources } from '../world/objects.ts';
import type { Floor } from './floor.ts';
import type { Pods } from './pods.ts';
import type { World } from './world.ts';

type Deployment = KubeObject<
  { replicas?: number; template: { spec: { containers: { image?: string }[] } } },
  Record<string, unknown>
>;
const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas'] as const;

/**
 * What is not yet as it was asked for, a sentence each: where it is, how much of it, that nothing else is left
 * anywhere, and that the status is what the clusters' own pods are.
 */
export async function unsettled(world: World, pods: Pods, floors: readonly Floor[]): Promise<string[]> {
  const wrong: string[] = [];
  const joined = await world.admin.list<PhysicalCluster>(resources.physicalclusters);
  const closed = new Set(
    joined.items.flatMap(({ metadata, spec }) => (spec?.unschedulable ? [metadata.name] : [])),
  );
  for (const { app, wanted } of floors) {
    const root = await find<Deployment>(world.admin, resources.deployments, app);
    const placement = await find<Placement>(world.admin, resources.placements, `${app}.deployments.apps`);
    const { shares = {}, clusters = [] } = placement?.spec ?? {};
    const targets = clusters.join(',');
    const asked = root?.metadata.annotations?.['atoll.dev/clusters'];
    const isOpen = asked?.split(',').every((name) => !closed.has(name));
    if (isOpen && asked !== targets)
      wrong.push(`${app} is asked for on ${asked}, and decided for ${targets}`);
    const held = Object.keys(shares).sort().join(',');
    // Nothing fits: it stays where it is.
    const isPlaced = clusters.length === 0 ? !isOpen : held === targets;
    if (!isPlaced || Object.values(shares).some(({ phase }) => phase !== 'Active'))
      wrong.push(`the shares of ${app} are ${JSON.stringify(shares)}, its clusters ${targets}`);
    const sum = Object.values(shares).reduce((all, { replicas = 0 }) => all + replicas, 0);
    if (sum !== wanted) wrong.push(`the shares of ${app} are ${sum} replicas, ${wanted} are asked for`);
    for (const cluster of world.clusters.keys())
      wrong.push(...onCluster(pods, { app, cluster, share: shares[cluster]?.replicas ?? 0, root }));
    const told = root?.status ?? {};
    for (const counter of counters)
      if ((told[counter] ?? 0) !== wanted) wrong.push(`${app} says ${counter} ${told[counter]} of ${wanted}`);
    if (told['observedGeneration'] !== root?.metadata.generation)
      wrong.push(`${app} says that generation ${told['observedGeneration']} is observed`);
  }
  for (const { name, client } of world.clusters.values()) {
    const { items } = await client.list<Deployment>(resources.deployments);
    for (const { metadata } of items) {
      const placement = await find<Placement>(
        world.admin,
        resources.placements,
        `${metadata.name}.deployments.apps`,
      );
      if (!Object.hasOwn(placement?.spec?.shares ?? {}, name))
        wrong.push(`${metadata.name} is left over on ${name}`);
    }
  }
  return wrong;
}

function onCluster(
  pods: Pods,
  of: { app: string; cluster: string; share: number; root: Deployment | undefined },
): string[] {
  const { app, cluster, share, root } = of;
  const all = pods.on(cluster, app);
  const ready = pods.serving(cluster, app);
  const image = root?.spec?.template.spec.containers[0]?.image;
  const old = ready.filter(
    ({ spec }) => (spec as { containers: { image?: string }[] }).containers[0]?.image !== image,
  );
  return [
    ...(all.length === share && ready.length === share
      ? []
      : [
          `${cluster} runs ${all.length} pods of ${app}, ${ready.length} of them ready, and its share is ${share}`,
        ]),
    ...(old.length > 0 ? [`${old.length} pods of ${app} on ${cluster} are not of ${image}`] : []),
  ];
}
