import type { Client } from '../client/client.ts';
import type { ResourceRef } from '../client/url.ts';
import type { KubeObject } from '../kube/object.ts';
import { mergePatchOf } from './patch.ts';

export interface CommitOptions {
  cluster?: string | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Fail with Conflict when the object was written since `old` was read. Default true. False only for who owns
   * every field in the patch; the uid is checked either way.
   */
  lock?: boolean;
  /** The kind's status may be written with the rest, in one write; see KindInfo. Default false. */
  whole?: boolean;
  /** False where the kind has no subresource of that name: its status is written with the rest. Default true. */
  hasStatusApart?: boolean;
}

/**
 * Writes what a reconcile decided: `old` as it was read, `wanted` as it should be, in one merge patch of the
 * difference. Answers the written object, or `old` when there was nothing to write. Where a kind's status has writes of its own,
 * a reconcile changes either it or the rest, never both: two writes could be torn apart by a crash.
 */
export async function commit<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  old: T,
  wanted: T,
  options: CommitOptions = {},
): Promise<T> {
  const change = changeOf(old, wanted, options);
  if (!change) return old;
  const { target, body } = change;
  return await client.patch<T>(resource, target, 'merge', body, { signal: options.signal });
}

/** The same, for whoever does not look at what is answered. */
export async function commitUnread<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  old: T,
  wanted: T,
  options: CommitOptions = {},
): Promise<void> {
  const change = changeOf(old, wanted, options);
  if (!change) return;
  const { target, body } = change;
  await client.patchUnread(resource, target, 'merge', body, { signal: options.signal });
}

function changeOf(old: KubeObject, wanted: KubeObject, options: CommitOptions) {
  const { status: oldStatus, ...oldRest } = old;
  const { status: newStatus, ...newRest } = wanted;
  const status = mergePatchOf({ status: oldStatus }, { status: newStatus });
  const rest = mergePatchOf(oldRest, newRest);
  if (status && rest && !options.whole)
    throw new Error('one commit cannot change both the status and the rest of an object');
  const patch = status && rest ? { ...rest, ...status } : (status ?? rest);
  if (!patch) return undefined;
  const { namespace, name = '', uid, resourceVersion } = old.metadata;
  const guard = {
    ...(uid && { uid }),
    ...(options.lock !== false && resourceVersion && { resourceVersion }),
  };
  const body = { ...patch, metadata: { ...(patch['metadata'] as object | undefined), ...guard } };
  const isApart = status !== undefined && rest === undefined && options.hasStatusApart !== false;
  const target = { cluster: options.cluster, namespace, name, ...(isApart && { subresource: 'status' }) };
  return { target, body };
}
