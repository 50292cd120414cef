import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { Core } from '../apiserver/core.ts';
import type { View } from '../apiserver/options.ts';
import { foundation } from '../apiserver/registry/logical-clusters.ts';
import type { Client } from '../client/client.ts';
import { logicalClusterAnnotation, physicalClusters, rootCluster } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import { within } from '../kube/within.ts';
import { type Changed, copyWorld } from '../scheduler/copy.ts';
import { planOf, type Room, roomIn } from '../scheduler/plan.ts';
import type { PlannedItem } from '../scheduler/plan-items.ts';
import { countsOf } from './plan-counts.ts';
import { type Asked, readObject, readRequest } from './plan-request.ts';
import type { PlanTurn } from './plan-turn.ts';

/** Where a running server says what the scheduler would do. */
export const planPath = '/plan';

export interface PlanAnswer {
  items: PlannedItem[];
  /** Of a rebalance. */
  room?: Room;
}

/** Answers before the request's own minute has passed. */
const longestMs = 50_000;

/**
 * POST /plan: what would move, and what cannot, were it so. Nothing is changed. It reads what all tenants have and says
 * what becomes of it, so it is for system:masters alone; one at a time in each process, since each reads everything.
 */
export function planView(clientOf: () => Client, turn: PlanTurn): View {
  return {
    // As the command asks, whose kubeconfig is root's.
    owns: (path) => path === planPath || path === `/clusters/${rootCluster}${planPath}`,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ core, info, request: { method, body } }) {
      if (method !== 'POST')
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${info.verb} path "${planPath}"`, {});
      return await turn.asked(async () => {
        const client = clientOf();
        const asked = readRequest(body ?? new Uint8Array());
        const changes = await changesOf(asked, core, client);
        const world = await within(longestMs, undefined, (signal) => copyWorld(client, changes, signal));
        const before = roomIn(world);
        const items = await planOf(world, changes, { countsOf });
        const answer: PlanAnswer = {
          items,
          ...(asked.rebalance.length > 0 && { room: { before, after: roomIn(world) } }),
        };
        const headers = { 'content-type': 'application/json' };
        return { status: 200, headers, body: Buffer.from(`${JSON.stringify(answer)}\n`) };
      });
    },
  };
}

async function changesOf(asked: Asked, core: Core, client: Client): Promise<Changed[]> {
  const { cluster, objects, drain, rebalance } = asked;
  const id = await core.paths.resolve(cluster);
  const isThere = id === rootCluster || (id !== undefined && (await core.store.get(foundation(id))));
  if (id === undefined || !isThere)
    throw badRequest(`cluster: there is no logical cluster ${JSON.stringify(cluster)}`);
  const serve = ({ group, version, resource }: Changed['resource']) =>
    core.catalog.find(id, group, version, resource);
  const given = objects.map((object, index) => readObject(object, `objects[${index}]`, id, serve));
  const named = [
    ...drain.map((name, i) => ({ name, at: `drain[${i}]`, more: { unschedulable: true, drain: true } })),
    ...rebalance.map((name, i) => ({ name, at: `rebalance[${i}]`, more: { rebalance: true } })),
  ];
  const others = named.map(async ({ name, at, more }, index): Promise<Changed> => {
    if (given.some(({ object }) => object.kind === 'PhysicalCluster' && object.metadata.name === name))
      throw badRequest(`${at}: ${name} is among the objects, too: say it in its spec`);
    if (named.findIndex((one) => one.name === name) !== index)
      throw badRequest(`${at}: ${name} is there twice`);
    const found = await client.get<PhysicalCluster>(physicalClusters, { cluster: rootCluster, name });
    const object = { ...found, spec: { ...found.spec, ...more } } as KubeObject;
    return changed({ resource: physicalClusters, object }, rootCluster);
  });
  return [...given.map((one) => changed(one, id)), ...(await Promise.all(others))];
}

export function changed({ resource, object }: Changed, cluster: string): Changed {
  const { namespace, name, uid = `planned-${namespace}-${name}`, annotations } = object.metadata;
  const marked = { ...annotations, [logicalClusterAnnotation]: cluster };
  return { resource, object: { ...object, metadata: { ...object.metadata, uid, annotations: marked } } };
}
