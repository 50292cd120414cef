import type { Client } from '../client/client.ts';
import type { ResourceRef } from '../client/url.ts';
import type { PlacedObject } from '../cluster/closure.ts';
import { logicalClusterAnnotation } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { type CommitOptions, commitUnread } from '../controller/commit.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { objectMatters, placementMatters } from './matters.ts';

const mostTries = 4;

interface Racing<T> extends CommitOptions {
  client: Client;
  /** May read what `client` writes. */
  reader: Client;
  /** Whether what was decided by `old` would be decided by `now`. */
  stands(now: T, old: T): boolean;
}

/**
 * As commit; but where somebody wrote what no decision rests on, a status mostly, the same patch goes on top of that. Else it
 * is a Conflict, as ever: a Namespace is not decided anew for what says nothing new.
 */
export async function commitThough<T extends KubeObject>(
  resource: ResourceRef,
  old: T,
  wanted: T,
  { client, reader, stands, ...options }: Racing<T>,
): Promise<void> {
  const { namespace, name = '', uid } = old.metadata;
  let resourceVersion = old.metadata.resourceVersion;
  const over = (object: T): T => ({
    ...object,
    metadata: { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
  });
  for (let tries = 1; ; tries++) {
    try {
      await commitUnread(client, resource, over(old), over(wanted), options);
      return;
    } catch (error) {
      if (!isStatusError(error, 'Conflict') || tries === mostTries) throw error;
      const target = { cluster: options.cluster, namespace, name };
      const now = await reader.get<T>(resource, target, options.signal);
      if (now.metadata.uid !== uid || !stands(alike(now), alike(old))) throw error;
      resourceVersion = now.metadata.resourceVersion;
    }
  }
}

/** Caches name the logical cluster in each object, an answer about one does not. */
function alike<T extends KubeObject>(object: T): T {
  const { [logicalClusterAnnotation]: _cluster, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** What a claim's status says of its data counts. */
export function placementStands(now: Placement, old: Placement): boolean {
  const isClaim = old.spec?.ref.kind === 'PersistentVolumeClaim';
  const data = ({ status }: Placement) => [status?.clusters, status?.bound];
  return !placementMatters(now, old) && (!isClaim || deepEqual(data(now), data(old)));
}

/** What a rule places is not seen as it is. */
export function objectStands({ kind }: PlacedObject): (now: KubeObject, old: KubeObject) => boolean {
  return (now, old) => kind.rule === undefined && !objectMatters(now, old);
}
