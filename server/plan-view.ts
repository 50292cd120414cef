import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { Core } from '../apiserver/core.ts';
import type { View } from '../apiserver/options.ts';
import type { Client } from '../client/client.ts';
import { placedKinds } from '../cluster/kinds.ts';
import { logicalClusterAnnotation, physicalClusters, rootCluster } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { decodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import { isRecord, listAt, record, strings, textAt } from '../kube/untyped.ts';
import { type Changed, copyWorld } from '../scheduler/copy.ts';
import { type PlannedItem, planOf } from '../scheduler/plan.ts';

/** Where a running server says what the scheduler would do. */
export const planPath = '/plan';

/** What is asked: these objects, each whole as it would be, in the logical cluster `cluster`; these clusters drained. */
export interface PlanRequest {
  /** A path or an id; default root. */
  cluster?: string;
  objects?: KubeObject[];
  /** Names of physical clusters. */
  drain?: string[];
}

export interface PlanAnswer {
  items: PlannedItem[];
}

/** Answers before the request's own minute has passed. */
const longestMs = 50_000;

/**
 * POST /plan: what would move, and what cannot, were it so. Nothing is changed. It reads what all tenants have and says
 * what becomes of it, so it is for system:masters alone; one at a time in each process, since each reads everything.
 */
export function planView(clientOf: () => Client): View {
  let busy = false;
  return {
    // As the command asks, whose kubeconfig is root's.
    owns: (path) => path === planPath || path === `/clusters/${rootCluster}${planPath}`,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ core, info, request: { method, body } }) {
      if (method !== 'POST')
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${info.verb} path "${planPath}"`, {});
      if (busy) throw new StatusError(429, 'TooManyRequests', 'another plan is being made; try again');
      busy = true;
      try {
        const client = clientOf();
        const changes = await changesOf(readRequest(body ?? new Uint8Array()), core, client);
        const world = await copyWorld(client, changes, AbortSignal.timeout(longestMs));
        const answer: PlanAnswer = { items: await planOf(world, changes) };
        const headers = { 'content-type': 'application/json' };
        return { status: 200, headers, body: Buffer.from(`${JSON.stringify(answer)}\n`) };
      } finally {
        busy = false;
      }
    },
  };
}

function readRequest(body: Uint8Array): PlanRequest {
  let decoded: unknown;
  try {
    decoded = decodeJson(body).value;
  } catch {
    throw badRequest('the body is no JSON');
  }
  const given = record(decoded);
  const objects = listAt(given, 'objects');
  if (!objects.every(isObject)) throw badRequest('objects: each has apiVersion, kind and metadata.name');
  return {
    cluster: textAt(given, 'cluster') || rootCluster,
    objects,
    drain: strings(given['drain']),
  };
}

function isObject(value: unknown): value is KubeObject {
  return isRecord(value) && isRecord(value['metadata']) && Boolean(textAt(value['metadata'], 'name'));
}

async function changesOf(asked: PlanRequest, core: Core, client: Client): Promise<Changed[]> {
  const { cluster = rootCluster, objects = [], drain = [] } = asked;
  const id = cluster === '*' ? undefined : await core.paths.resolve(cluster);
  if (id === undefined) throw badRequest(`there is no logical cluster ${JSON.stringify(cluster)}`);
  const drained = drain.map(async (name): Promise<Changed> => {
    const found = await client.get<PhysicalCluster>(physicalClusters, { cluster: rootCluster, name });
    const spec = { ...found.spec, unschedulable: true, drain: true };
    return changed({ ...found, spec } as KubeObject, rootCluster);
  });
  const all = [...objects.map((object) => changed(object, id)), ...(await Promise.all(drained))];
  if (all.length === 0) throw badRequest('objects and drain are empty: there is nothing to plan');
  return all;
}

function changed(object: KubeObject, cluster: string): Changed {
  const { namespace, name, uid = `planned-${namespace}-${name}`, annotations } = object.metadata;
  const resource = resourceOf(object, cluster);
  const marked = { ...annotations, [logicalClusterAnnotation]: cluster };
  return { resource, object: { ...object, metadata: { ...object.metadata, uid, annotations: marked } } };
}

/** Of an object that a plan can be about. Throws a StatusError for any other. */
export function resourceOf({ apiVersion, kind }: KubeObject, cluster: string): Changed['resource'] {
  const found = plannedKinds.find((known) => known.kind === kind && versionOf(known) === apiVersion);
  if (!found)
    throw badRequest(
      `no plan can be made of ${kind} (${apiVersion}), only of ${plannedKinds.map((known) => known.kind).join(', ')}`,
    );
  if (found.kind === 'PhysicalCluster' && cluster !== rootCluster)
    throw badRequest('physical clusters are those of the logical cluster root');
  return { group: found.group, version: found.version, resource: found.resource };
}

const plannedKinds = [
  ...placedKinds,
  { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace' },
  { ...physicalClusters, kind: 'PhysicalCluster' },
];

function versionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}
