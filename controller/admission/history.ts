import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, objectKey, parseKey, type ResourceRef } from '../../client/url.ts';
import { podRefusal } from '../../cluster/pod-admission.ts';
import { isRefusedRevision, refusedRevision } from '../../cluster/refused-revision.ts';
import { revisionAfter, revisionAnnotation, revisionOf } from '../../cluster/revision.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { getOwn, numberAt } from '../../kube/untyped.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';

export interface RefusedRevisionOptions {
  client: Client;
  /** Across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

interface Where {
  client: Client;
  cluster: string | undefined;
  signal: AbortSignal;
}

interface Kind {
  kind: string;
  workloads: Informer;
  /** What each of its templates has in its history. */
  revisions: Informer;
}

const apps = (resource: string): ResourceRef => ({ group: 'apps', version: 'v1', resource });
const workers = 2;
const unheardMs = 1_000;
const byOwner = 'refused-revision/owner';

/**
 * Woken by workloads whose template is refused, or was, and by their revisions. Keeps one more as long as it is, numbered as the newest:
 * see cluster/refused-revision.ts. Resolves when stopped.
 */
export function runRefusedRevisionController(options: RefusedRevisionOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const sets = informers.for(apps('replicasets'));
  const others = informers.for(apps('controllerrevisions'), { transform: withoutData });
  const kinds = [
    { kind: 'Deployment', resource: 'deployments', revisions: sets },
    { kind: 'StatefulSet', resource: 'statefulsets', revisions: others },
    { kind: 'DaemonSet', resource: 'daemonsets', revisions: others },
  ].map(
    ({ kind, resource, revisions }): Kind => ({ kind, workloads: informers.for(apps(resource)), revisions }),
  );
  /** By the name that somebody else's object has: who waits for that to go. */
  const taken = new Map([sets, others].map((revisions) => [revisions, new Map<string, string>()]));
  for (const { kind, workloads } of kinds) {
    const wake = (key: string) => queue.add(named(key, kind));
    workloads.on({
      add: (one, key) => podRefusal(one) !== undefined && wake(key),
      update: (now, old, key) => [now, old].some((one) => podRefusal(one) !== undefined) && wake(key),
    });
  }
  for (const revisions of [sets, others]) {
    revisions.addIndex(byOwner, (one) => {
      const uid = controllerOf(one)?.uid;
      return uid === undefined ? [] : [beside(one, uid)];
    });
    const tell = (one: KubeObject) => {
      const { kind, name = '' } = controllerOf(one) ?? {};
      const { cluster, namespace } = parseKey(objectKey(one));
      const key = keyOf(cluster, namespace, name);
      const found = kinds.find((its) => its.kind === kind && its.revisions === revisions);
      const owner = found?.workloads.get(key);
      // Of that one nothing may have been heard yet.
      if (found && (isRefusedRevision(one) || (owner && podRefusal(owner) !== undefined)))
        queue.add(named(key, found.kind));
    };
    revisions.on({
      add: tell,
      update: tell,
      delete: (one, key) => {
        tell(one);
        const waits = taken.get(revisions)?.get(key);
        if (waits !== undefined) queue.add(waits);
        taken.get(revisions)?.delete(key);
      },
    });
  }
  const reconcile = async (which: string): Promise<Retry | undefined> => {
    const { cluster, namespace, name } = parseKey(which);
    const [kind, called = ''] = name.split(':');
    const key = keyOf(cluster, namespace, called);
    const found = kinds.find((one) => one.kind === kind);
    const workload = found?.workloads.get(key);
    if (!found || !workload) return undefined;
    const where = { client, cluster: clusterToWrite(informers, key), signal };
    const wanted = await keep(workload, found.revisions, where);
    if (wanted === undefined) return undefined;
    const other = keyOf(cluster, namespace, wanted);
    taken.get(found.revisions)?.set(other, which);
    // Nothing may have been heard of it yet, or of its end already.
    return found.revisions.get(other) ? undefined : { after: unheardMs };
  };
  const ready = [sets, others, ...kinds.map(({ workloads }) => workloads)].map(({ synced }) => synced);
  return runController({ name: 'refused-revision', queue, workers, reconcile, signal, logger, ready });
}

/** Answers the name of what is wanted where somebody else has it. */
async function keep(
  workload: KubeObject,
  { resource, byIndex }: Informer,
  { client, cluster, signal }: Where,
): Promise<string | undefined> {
  const { namespace, uid = '' } = workload.metadata;
  const target = (name: string | undefined) => ({ cluster, namespace, name: name ?? '' });
  const all = byIndex(byOwner, beside(workload, uid));
  const next = revisionAfter(all.filter((one) => !isRefusedRevision(one)));
  const wanted = refusedRevision(workload, next);
  try {
    for (const { metadata } of all.filter(isRefusedRevision)) {
      if (metadata.name === wanted?.metadata.name) continue;
      const preconditions = metadata.uid ? { uid: metadata.uid } : {};
      await client.delete(resource, target(metadata.name), { preconditions });
    }
    if (!wanted) return undefined;
    const at = target(wanted.metadata.name);
    const known = all.find(({ metadata }) => metadata.name === wanted.metadata.name);
    if (known && !isRefusedRevision(known)) return undefined;
    let there = known ?? (await client.create(resource, wanted, { cluster, namespace, signal }));
    const news = known && newsOf(wanted, known);
    if (news) there = await client.patch(resource, at, 'merge', news, { signal });
    const { generation } = there.metadata;
    if (wanted.kind === 'ReplicaSet' && numberAt(there.status, 'observedGeneration') !== generation) {
      const status = { replicas: 0, observedGeneration: generation };
      await client.patch(resource, { ...at, subresource: 'status' }, 'merge', { status }, { signal });
    }
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return wanted?.metadata.name;
    // Each of these is told of as it happens.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
  return undefined;
}

/** What has come to be said since: its number, and of a ReplicaSet what its Deployment is annotated with. */
function newsOf(wanted: KubeObject, there: KubeObject): object | undefined {
  const isNumbered = revisionOf(there) >= revisionOf(wanted);
  if (wanted.kind === 'ControllerRevision') return isNumbered ? undefined : { revision: wanted['revision'] };
  const before = there.metadata.annotations ?? {};
  const annotations = Object.fromEntries(
    Object.entries(wanted.metadata.annotations ?? {}).filter(([name, value]) =>
      name === revisionAnnotation ? !isNumbered : getOwn(before, name) !== value,
    ),
  );
  return Object.keys(annotations).length > 0 ? { metadata: { annotations } } : undefined;
}

/** Whoever writes an object says whose it is: only those in its own namespace can be. */
function beside(object: KubeObject, uid: string): string {
  const { cluster, namespace } = parseKey(objectKey(object));
  return keyOf(cluster, namespace, uid);
}

function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

function withoutData<T extends KubeObject>({ apiVersion, kind, metadata, ...rest }: T): T {
  const { managedFields: _fields, ...more } = metadata;
  return { apiVersion, kind, metadata: more, revision: rest['revision'] } as unknown as T;
}

/** No name has a colon. */
const named = (key: string, kind: string) => {
  const { cluster, namespace, name } = parseKey(key);
  return keyOf(cluster, namespace, `${kind}:${name}`);
};
