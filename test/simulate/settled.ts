import {
  clustersAnnotation,
  overflowAnnotation,
  placedByAnnotation,
  schedulerUser,
  spreadAnnotation,
} from '../../cluster/names.ts';
import type { PlacementPolicy } from '../../cluster/policy.ts';
import type { PhysicalCluster, Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { find, resources } from '../world/objects.ts';
import type { Start } from './history.ts';
import type { Pods } from './pods.ts';
import type { Services } from './services.ts';
import type { World } from './world.ts';

type Workload = KubeObject<
  { replicas?: number; template: { spec: { containers: { image?: string }[] } } },
  Record<string, unknown>
>;
/** The name of the PlacementPolicy of a workload. */
export const policyOf = (workload: string): string => `for-${workload}`;
const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas'] as const;
export const resourceOf = { Deployment: resources.deployments, StatefulSet: resources.statefulsets } as const;

/**
 * What is not yet as it was asked for, a sentence each: where it is, how much of it, that nothing else is left
 * anywhere, and that the status is what the clusters' own pods are.
 */
export async function unsettled(
  world: World,
  pods: Pods,
  services: Services,
  workloads: readonly Start[],
): Promise<string[]> {
  const joined = await world.admin.list<PhysicalCluster>(resources.physicalclusters);
  const open = new Set(
    joined.items.flatMap(({ metadata, spec }) =>
      spec?.unschedulable || spec?.capacity || spec?.taints || metadata.deletionTimestamp
        ? []
        : [metadata.name ?? ''],
    ),
  );
  const wrong: string[] = [];
  for (const workload of workloads) {
    wrong.push(...(await ofOne(world, pods, { workload, open })));
    wrong.push(...(await ofService(world, services, workload)));
  }
  return [...wrong, ...(await beyondBounds(world, joined.items, workloads))];
}

/**
 * What overflows takes no more of a cluster than it was given, nor than the bound, as long as there is room for it at all; what
 * others ask for beyond the bound is theirs.
 */
async function beyondBounds(
  world: World,
  joined: readonly PhysicalCluster[],
  workloads: readonly Start[],
): Promise<string[]> {
  const all = await world.admin.list<Placement>(resources.placements, { namespace: 'default' });
  const sharesOf = ({ kind, name }: Start) =>
    all.items.find(({ metadata }) => metadata.name === recordOf(kind, name))?.spec;
  const wrong: string[] = [];
  for (const workload of workloads) {
    const root = await find<Workload>(world.admin, resourceOf[workload.kind], workload.name);
    const policy = await find<PlacementPolicy>(
      world.admin,
      resources.placementpolicies,
      policyOf(workload.name),
    );
    const { blocked, shares = {}, filled } = sharesOf(workload) ?? {};
    if (!root || blocked || !overflows(workload, root, policy)) continue;
    for (const { metadata, spec } of joined) {
      const bound = spec?.capacity?.['pods'];
      const { replicas = 0 } = shares[metadata.name ?? ''] ?? {};
      if (bound === undefined || replicas === 0) continue;
      const others = workloads.filter(({ name }) => name !== workload.name).map(sharesOf);
      const taken = others.reduce((sum, it) => sum + (it?.shares?.[metadata.name ?? '']?.replicas ?? 0), 0);
      const given = filled?.find(({ cluster }) => cluster === metadata.name)?.pods ?? 0;
      if (replicas > Number(bound) || (replicas > given && replicas + taken > Number(bound)))
        wrong.push(
          `${workload.name} has ${replicas} on ${metadata.name}, where there is room for ${bound} with ${taken} of others`,
        );
    }
  }
  return wrong;
}

/** For certain: nobody says how many clusters, nor over what it is spread. */
function overflows({ kind }: Start, { metadata }: Workload, policy: PlacementPolicy | undefined): boolean {
  const { annotations = {} } = metadata;
  if (kind !== 'Deployment' || annotations[spreadAnnotation] !== undefined) return false;
  const own = annotations[overflowAnnotation];
  return own === 'true' ? !policy : own === undefined && policy?.spec?.clusters?.overflow === true;
}

function recordOf(kind: Start['kind'], name: string): string {
  const { resource, group } = resourceOf[kind];
  return `${name}.${resource}.${group}`;
}

async function ofOne(
  world: World,
  pods: Pods,
  { workload: { kind, name }, open }: { workload: Start; open: ReadonlySet<string> },
): Promise<string[]> {
  const resource = resourceOf[kind];
  const root = await find<Workload>(world.admin, resource, name);
  const placement = await find<Placement>(world.admin, resources.placements, recordOf(kind, name));
  const { shares = {} } = placement?.spec ?? {};
  const wrong: string[] = [];
  const policy = await find<PlacementPolicy>(world.admin, resources.placementpolicies, policyOf(name));
  if (root) wrong.push(...asAsked(root, placement, { open, some: isNarrowed(root, policy) }));
  if (root && placement) wrong.push(...asSaid(root, placement, policy));
  else if (placement) wrong.push(`${name} is deleted, and its Placement is there`);
  for (const cluster of world.clusters.values()) {
    const share = root ? (shares[cluster.name]?.replicas ?? 0) : 0;
    wrong.push(...onCluster(pods, { app: name, cluster: cluster.name, share, root }));
    const { items } = await cluster.client.list(resource);
    const isThere = items.some(({ metadata }) => metadata.name === name);
    if (isThere && !(root && Object.hasOwn(shares, cluster.name)))
      wrong.push(`${name} is left over on ${cluster.name}`);
  }
  return wrong;
}

/** Where the workload is counted on, and where its Namespace wants all; nowhere else. */
async function ofService(world: World, services: Services, { kind, name }: Start): Promise<string[]> {
  const service = await find(world.admin, resources.services, name);
  const placement = await find<Placement>(world.admin, resources.placements, recordOf(kind, name));
  const shares = placement?.spec?.shares ?? {};
  const own = await find<Placement>(world.admin, resources.placements, `${name}.services`);
  const isNamed = (cluster: string) => own?.spec?.wanted !== undefined && own.spec.clusters.includes(cluster);
  return [...world.clusters.keys()].flatMap((cluster) => {
    const isWanted = service && (Object.hasOwn(shares, cluster) || isNamed(cluster));
    const wanted = isWanted ? true : undefined;
    const is = services.leads(cluster, name);
    if (is === wanted) return [];
    const said = is === undefined ? 'is not there' : is ? 'is left over' : 'is withdrawn';
    return [`Service ${name} ${said} on ${cluster}, and ${name} is on ${Object.keys(shares)}`];
  });
}

/** Of the clusters that it names it may take some; and none where those are not ones to spread over. */
function isNarrowed(
  { metadata: { annotations = {} } }: Workload,
  policy: PlacementPolicy | undefined,
): boolean {
  const { overflow = false, spread } = policy?.spec?.clusters ?? {};
  const says = annotations[overflowAnnotation] === 'true' || annotations[spreadAnnotation] !== undefined;
  return says || overflow || spread !== undefined;
}

/** `some`: see isNarrowed. */
function asAsked(
  root: Workload,
  placement: Placement | undefined,
  { open, some }: { open: ReadonlySet<string>; some: boolean },
): string[] {
  const { name = '', annotations, generation } = root.metadata;
  const { shares = {}, clusters = [], blocked } = placement?.spec ?? {};
  const wanted = root.spec?.replicas ?? 1;
  const wrong: string[] = [];
  const targets = clusters.join(',');
  const asked = annotations?.['atoll.dev/clusters'] ?? '';
  const isOpen = asked.split(',').every((one) => open.has(one));
  const isSome = some && (blocked || clusters.every((one) => asked.split(',').includes(one)));
  if (isOpen && asked !== targets && !isSome)
    wrong.push(`${name} is asked for on ${asked}, and decided for ${targets}`);
  const held = Object.keys(shares).sort().join(',');
  // Nothing fits: it stays where it is.
  const isPlaced = clusters.length === 0 ? !isOpen : held === targets;
  if (!isPlaced || Object.values(shares).some(({ phase }) => phase !== 'Active'))
    wrong.push(`the shares of ${name} are ${JSON.stringify(shares)}, its clusters ${targets}`);
  const told = root.status ?? {};
  if (held === '') return wrong;
  const sum = Object.values(shares).reduce((all, { replicas = 0 }) => all + replicas, 0);
  if (sum !== wanted) wrong.push(`the shares of ${name} are ${sum} replicas, ${wanted} are asked for`);
  for (const counter of counters)
    if ((told[counter] ?? 0) !== wanted) wrong.push(`${name} says ${counter} ${told[counter]} of ${wanted}`);
  if (told['observedGeneration'] !== generation)
    wrong.push(`${name} says that generation ${told['observedGeneration']} of ${generation} is observed`);
  return wrong;
}

/** Where nobody annotated it, a policy counts, if anything fits at all; and counts of a spread are exact where they add up. */
function asSaid(root: Workload, { spec }: Placement, policy: PlacementPolicy | undefined): string[] {
  const { name = '', annotations = {} } = root.metadata;
  const { clusters = [], blocked, spread, shares = {} } = spec ?? {};
  const wrong: string[] = [];
  const isUsers =
    annotations[clustersAnnotation] !== undefined && annotations[placedByAnnotation] !== schedulerUser;
  const { names, exclude = [] } = policy?.spec?.clusters ?? {};
  const outside = clusters.filter((c) => exclude.includes(c) || (names && !names.includes(c)));
  if (!isUsers && !blocked && outside.length > 0)
    wrong.push(`${name} is decided for ${outside.join(',')} in spite of its policy`);
  if (!spread?.replicas || root.kind !== 'Deployment') return wrong;
  const there = [...new Set(Object.values(spread.values))];
  const counts = there.map((value) => spread.replicas?.[value] ?? 0);
  if (counts.reduce((sum, n) => sum + n, 0) !== (root.spec?.replicas ?? 1)) return wrong;
  for (const [i, value] of there.entries()) {
    const of = Object.entries(shares).filter(([c]) => spread.values[c] === value);
    const sum = of.reduce((all, [, share]) => all + (share.replicas ?? 0), 0);
    if (sum !== counts[i]) wrong.push(`${name} has ${sum} in ${value}, and is to have ${counts[i]}`);
  }
  return wrong;
}

function onCluster(
  pods: Pods,
  of: { app: string; cluster: string; share: number; root: Workload | undefined },
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
