import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import type { ResourceRef } from '../../client/url.ts';
import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Events } from '../events.ts';
import { resources } from '../resources.ts';
import type { Plan, Workload } from '../types.ts';
import { adopt, selectorOf } from './adopt.ts';
import { ownedBy } from './children.ts';
import { failureConditions } from './failure.ts';
import { Family } from './family.ts';
import { type Done, wordsOf } from './words.ts';

export interface WorkloadController {
  name: string;
  resource: ResourceRef;
  /** What it makes: pods, or for a Deployment ReplicaSets. */
  children: ResourceRef;
  /** Its conditions say that a child was refused. */
  saysFailure?: true;
  decide(workload: KubeObject, children: KubeObject[]): Plan<KubeObject> | Promise<Plan<KubeObject>>;
  /** Further resources whose changes wake every workload of the kind (a DaemonSet's nodes). */
  wakes?: readonly ResourceRef[];
}

export interface Context {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  events: Events;
}

/** Runs one kind: wakes on it and on what it owns, reads the children afresh, carries the plan out. */
export function runWorkloads(kind: WorkloadController, context: Context): Promise<void> {
  const { client, informers, signal, logger, events } = context;
  const queue = new WorkQueue({ maxDelayMs: 2000 });
  const own = informers.for<Workload>(kind.resource);
  const children = informers.for(kind.children);
  const add = (object: KubeObject) => queue.add(keyOf(object));
  const family = new Family(client, kind.children, children);
  const gone = (object: KubeObject) => {
    family.forget(object);
    add(object);
  };
  own.on({ add, update: (object) => add(object), delete: gone });
  const wakeOwner = (child: KubeObject) => {
    const ref = child.metadata.ownerReferences?.find((owner) => owner.controller);
    if (ref) queue.add(`${child.metadata.namespace}/${ref.name}`);
  };
  children.on({ add: wakeOwner, update: (object) => wakeOwner(object), delete: wakeOwner });
  const wakeAll = () => own.list().forEach(add);
  const others = (kind.wakes ?? []).map((resource) => informers.for(resource));
  for (const other of others) other.on({ add: wakeAll, delete: wakeAll });
  const ready = [own, children, ...others].map((informer) => informer.synced);
  const reconcile = async (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    const workload = await client.get<Workload>(kind.resource, { namespace, name }).catch(ignoreMissing);
    if (!workload) return;
    const found = await family.of(workload, selectorOf(workload));
    const owned = ownedBy(workload, await adopt(client, kind.children, workload, found));
    const plan = await kind.decide(workload, owned);
    const done = await carryOut(client, kind, family, workload, plan);
    events.say(workload, wordsOf(workload, owned, plan, done), { component: `${kind.name}-controller` });
    // It is tried again.
    if (done.refused) throw done.refused;
    return plan.afterMs === undefined ? undefined : { after: plan.afterMs };
  };
  return runController({ name: kind.name, queue, workers: 4, reconcile, signal, logger, ready });
}

/** A child that is refused keeps nothing else from being done: the status is of those that there are. */
async function carryOut(
  client: Client,
  kind: WorkloadController,
  family: Family,
  workload: Workload,
  plan: Plan<KubeObject>,
): Promise<Done> {
  const { namespace, name = '' } = workload.metadata;
  const at = { ...(namespace && { namespace }) };
  const done: Done = { created: [], removed: [] };
  try {
    for (const claim of plan.claims ?? []) await client.create(resources.claims, claim).catch(ignoreExisting);
    for (const child of plan.create) {
      const created = await client.create(kind.children, child).catch(ignoreExisting);
      if (!created) continue;
      done.created.push(created);
      family.wrote(workload, created.metadata.name ?? '', created);
    }
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    done.refused = error;
  }
  if (kind.saysFailure) plan.status['conditions'] = failureConditions(workload, done.refused, Date.now());
  for (const child of plan.remove) {
    const removed = await client.delete(kind.children, { ...at, name: child }).catch(ignoreMissing);
    if (!removed) continue;
    done.removed.push(child);
    family.wrote(workload, child, removed);
  }
  for (const { name: child, body } of plan.patch) {
    const patched = await client
      .patch(kind.children, { ...at, name: child }, 'merge', body)
      .catch(ignoreMissing);
    if (patched) family.wrote(workload, child, patched);
  }
  if (plan.annotate) {
    const metadata = { annotations: plan.annotate };
    await client.patch(kind.resource, { ...at, name }, 'merge', { metadata }).catch(ignoreMissing);
  }
  if (isNews(workload, plan)) {
    const status = { ...at, name, subresource: 'status' };
    await client.patch(kind.resource, status, 'merge', { status: plan.status }).catch(ignoreMissing);
  }
  return done;
}

/** Its status is another than the workload's; what is absent counts as zero or null. */
function isNews(workload: KubeObject, { status }: Plan<KubeObject>): boolean {
  const before = (workload.status ?? {}) as Record<string, unknown>;
  return Object.entries(status).some(
    ([field, value]) => !deepEqual(value, before[field] ?? (typeof value === 'number' ? 0 : null)),
  );
}

function ignoreExisting(error: unknown): undefined {
  if (!isStatusError(error, 'AlreadyExists')) throw error;
  return undefined;
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}

/** It went away meanwhile, which is as good. */
export function ignoreMissing(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error;
  return undefined;
}
