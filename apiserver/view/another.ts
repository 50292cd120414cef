import { randomUUID } from 'node:crypto';
import { type ReflectedKind, reflectedKind } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { listEntries, rewriteObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace } from './places.ts';
import { asAnother, isAnother } from './sources.ts';
import { heldHere } from './users-own.ts';

const pods = reflectedKind('pods');

/**
 * Whoever waits for an object to be gone waits for its uid. So one whose clusters have all made it anew goes, as far as nothing
 * holds it here, and what they have comes, with what it owns under it. `make`: of what is there, or is to come, what this cluster says.
 */
export async function replaceFormer(
  store: Store,
  kind: ReflectedKind,
  place: NamespacePlace,
  former: KubeObject,
  make: (there: KubeObject) => Promise<KubeObject>,
): Promise<KubeObject> {
  const { name = '', uid = '' } = former.metadata;
  const at = addressIn(place, { ...kind, name });
  await rewriteObject(store, at, (there) =>
    there?.metadata.uid === uid && isAnother(there) ? heldHere(there) : there,
  );
  const next = asAnother(former, randomUUID());
  const now = (await rewriteObject(store, at, async (there) => await make(there ?? next))) as KubeObject;
  await follow(store, place, now, uid);
  return now;
}

/**
 * Pods that are still under the ReplicaSet that had this name before, of uid `former`, come under it: their clusters say by name whose
 * they are. Whoever puts one says as what it was known, so what was stopped in between is done with the next word of it.
 */
export async function follow(
  store: Store,
  place: NamespacePlace,
  { kind, metadata: { name, uid = '' } }: KubeObject,
  former: unknown,
): Promise<void> {
  if (kind !== 'ReplicaSet' || typeof former !== 'string' || former === '' || former === uid) return;
  const { logical: cluster, namespace } = place;
  const isOfFormer = ({ metadata: { ownerReferences = [] } }: KubeObject) =>
    ownerReferences.some(
      (owner) =>
        owner.controller === true && owner.uid === former && owner.kind === kind && owner.name === name,
    );
  const resource = { group: pods.group, resource: pods.resource, namespaced: true };
  const { entries } = await listEntries(store, { resource, cluster, namespace });
  const needle = Buffer.from(JSON.stringify(former));
  for (const entry of entries) {
    const { buffer, byteOffset, byteLength } = entry.value;
    if (!Buffer.from(buffer, byteOffset, byteLength).includes(needle)) continue;
    const { name: one = '' } = decodeStored(entry).metadata;
    await rewriteObject(store, addressIn(place, { ...pods, name: one }), (pod) =>
      pod && isOfFormer(pod) ? under(pod, uid) : pod,
    );
  }
}

function under(pod: KubeObject, uid: string): KubeObject {
  const ownerReferences = (pod.metadata.ownerReferences ?? []).map((owner) =>
    owner.controller === true ? { ...owner, uid } : owner,
  );
  return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
}
