import { isMissing } from '../client/errors.ts';
import type { ResourceRef } from '../client/url.ts';
import { locatorText } from '../cluster/locator.ts';
import { orphanOfAnnotation } from '../cluster/names.ts';
import type { ShareView } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Engine } from './engine.ts';
import { readLocator } from './ownership.ts';
import { type TargetId, type TargetPlace, targetId } from './target.ts';

/** What a workload makes and people look after. Its ControllerRevisions stay too, and are not shown. */
const dependentKinds = [
  { group: 'apps', version: 'v1', resource: 'replicasets' },
  { group: 'batch', version: 'v1', resource: 'jobs' },
  { group: '', version: 'v1', resource: 'pods' },
] as const;

interface Dependent {
  kind: (typeof dependentKinds)[number];
  object: KubeObject;
}

/** The place of the workload that left it behind; undefined for what has an owner, or was never ours. */
export function orphanOf(object: KubeObject, syncer: string): TargetId | undefined {
  const { namespace = '', ownerReferences } = object.metadata;
  if (ownerReferences?.some(({ controller }) => controller === true)) return undefined;
  const mark = readLocator(object, orphanOfAnnotation);
  if (mark?.syncer !== syncer || mark.resource === undefined) return undefined;
  return `${mark.resource}/${namespace}/${mark.name}`;
}

/** Whether this very object, or the one that its name has been taken over from, was orphaned. */
export function isOrphaned(share: ShareView | undefined, object: KubeObject): boolean {
  const orphaned = share?.spec?.orphaned;
  return orphaned !== undefined && readLocator(object)?.uid === orphaned;
}

/** Its ReplicaSets and Jobs, and what these made: each may be orphaned next. Pods come last in `all`. */
export function madeBy(uid: string, all: readonly Dependent[]): Dependent[] {
  const family = new Set([uid]);
  return all.filter(({ object: { metadata } }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (!owner || !family.has(owner.uid)) return false;
    family.add(metadata.uid ?? '');
    return true;
  });
}

/** More would be a controller that takes our annotation away. */
const maxPasses = 5;

/**
 * Marks what the workload made, so that it is known for ours when the workload is gone. Read from the cluster, and
 * again until nothing new is found: a cache may be behind, and the workload's controller still at work.
 */
export async function markDependents(engine: Engine, workload: KubeObject): Promise<void> {
  const { namespace = '', uid = '' } = workload.metadata;
  const mark = locatorText(workload) ?? '';
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const unmarked = madeBy(uid, await dependentsIn(engine, namespace)).filter(
      ({ object: { metadata } }) => metadata.annotations?.[orphanOfAnnotation] !== mark,
    );
    if (unmarked.length === 0) return;
    for (const { kind, object } of unmarked) await markAs(engine, kind, object, mark);
  }
}

export async function markAs(
  engine: Engine,
  kind: ResourceRef,
  object: KubeObject,
  mark: string,
  annotation = orphanOfAnnotation,
): Promise<void> {
  const { namespace, name = '', uid, annotations } = object.metadata;
  if (annotations?.[annotation] === mark) return;
  const metadata = { ...(uid && { uid }), annotations: { [annotation]: mark } };
  try {
    await engine.client.patch(kind, { namespace, name }, 'merge', { metadata }, { signal: engine.signal });
  } catch (error) {
    if (!isMissing(error, name) && !isStatusError(error, 'Conflict')) throw error;
  }
}

/** What is left of what a workload made. */
export async function orphansOf(
  engine: Engine,
  { kind, namespace, name }: TargetPlace,
): Promise<Dependent[]> {
  const id = targetId(kind, namespace, name);
  const all = await dependentsIn(engine, namespace);
  return all.filter(({ object }) => orphanOf(object, engine.uid) === id);
}

export async function removeOrphans(engine: Engine, orphans: readonly Dependent[]): Promise<void> {
  for (const { kind, object } of orphans) {
    const { namespace, name = '', uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp) continue;
    const how = { propagationPolicy: 'Background', preconditions: { ...(uid && { uid }) } } as const;
    try {
      await engine.client.delete(kind, { namespace, name }, how, engine.signal);
    } catch (error) {
      if (!isMissing(error, name) && !isStatusError(error, 'Conflict')) throw error;
    }
  }
}

async function dependentsIn({ client, signal }: Engine, namespace: string): Promise<Dependent[]> {
  const lists = await Promise.all(
    dependentKinds.map(async (kind) => {
      const { items } = await client.list(kind, { namespace, signal });
      return items.map((object) => ({ kind, object }));
    }),
  );
  return lists.flat();
}
