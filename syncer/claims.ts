import { claimOfAnnotation, locatorAnnotation } from '../cluster/names.ts';
import { listAt, textAt } from '../cluster/read.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Engine } from './engine.ts';
import { readLocator } from './ownership.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };

/** Whether a StatefulSet's controller calls one of its claims so: `<template>-<set>-<ordinal>`. */
export function isClaimName(set: KubeObject, name: string): boolean {
  const ordinal = /-(\d+)$/.exec(name);
  if (!ordinal) return false;
  const stem = name.slice(0, ordinal.index);
  return listAt(set, 'spec', 'volumeClaimTemplates').some(
    (template) => stem === `${textAt(template, 'metadata', 'name')}-${set.metadata.name}`,
  );
}

/** Made there for a set of ours, and marked as such. */
export function isClaimOfOurs({ uid }: Engine, object: KubeObject): boolean {
  return readLocator(object, claimOfAnnotation)?.syncer === uid;
}

/** Claims outlive their set: what is to be known of them then must be on them before it goes. */
export async function markClaims(engine: Engine, set: KubeObject): Promise<void> {
  const { client, signal } = engine;
  const { namespace } = set.metadata;
  const mark = set.metadata.annotations?.[locatorAnnotation];
  if (mark === undefined || listAt(set, 'spec', 'volumeClaimTemplates').length === 0) return;
  const { items } = await client.list(claims, { namespace, signal });
  for (const { metadata } of items) {
    const { name = '', uid, annotations } = metadata;
    // What bears a locator is an object of its own upstream.
    if (!isClaimName(set, name) || annotations?.[locatorAnnotation]) continue;
    if (annotations?.[claimOfAnnotation] === mark) continue;
    const body = { metadata: { ...(uid && { uid }), annotations: { [claimOfAnnotation]: mark } } };
    await client.patch(claims, { namespace, name }, 'merge', body, { signal });
  }
}

export async function removeClaims({ client, signal }: Engine, gone: readonly KubeObject[]): Promise<void> {
  for (const { metadata } of gone) {
    const { namespace, name = '', uid, deletionTimestamp } = metadata;
    if (deletionTimestamp) continue;
    try {
      await client.delete(claims, { namespace, name }, { preconditions: { ...(uid && { uid }) } }, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}
