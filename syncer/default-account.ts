import { isDefaultAccount } from '../cluster/placeable.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import { fieldManager, readLocator } from './ownership.ts';
import type { TargetPlace } from './target.ts';

/**
 * The ServiceAccount `default` is in each namespace of ours before we say anything of it, and stays when we have nothing
 * to say any more: what we add to it is ours, it itself is not. See docs/decisions/0023.
 */
export function isAdoptable({ kind, name }: TargetPlace, object: KubeObject): boolean {
  return isDefaultAccount(kind, name) && readLocator(object) === undefined;
}

/** Takes back all that we have applied, and leaves what others have. */
export async function takeBack(
  { client, signal }: Engine,
  { kind, namespace, name }: TargetPlace,
  { metadata: { uid } }: KubeObject,
): Promise<void> {
  const metadata = { name, namespace, ...(uid && { uid }) };
  const nothing = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  await client.patch(kind, { namespace, name }, 'apply', nothing, { fieldManager, force: true, signal });
}
