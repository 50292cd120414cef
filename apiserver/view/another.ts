import { randomUUID } from 'node:crypto';
import { type ReflectedKind, reflectedKind } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { listEntries, rewriteObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace } from './places.ts';
import { controllerOf } from './reflected-revision.ts';
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
  if (kind.kind === 'ReplicaSet') await follow(store, place, uid, now.metadata.uid ?? '');
  return now;
}

/** Their clusters say by name whose they are. */
async function follow(store: Store, place: NamespacePlace, former: string, uid: string): Promise<void> {
  const { logical: cluster, namespace } = place;
  const resource = { group: pods.group, resource: pods.resource, namespaced: true };
  const { entries } = await listEntries(store, { resource, cluster, namespace });
  const needle = Buffer.from(JSON.stringify(former));
  for (const entry of entries) {
    const { buffer, byteOffset, byteLength } = entry.value;
    if (!Buffer.from(buffer, byteOffset, byteLength).includes(needle)) continue;
    const { name = '' } = decodeStored(entry).metadata;
    await rewriteObject(store, addressIn(place, { ...pods, name }), (pod) =>
      pod && controllerOf(pod) === former ? under(pod, uid) : pod,
    );
  }
}

function under(pod: KubeObject, uid: string): KubeObject {
  const ownerReferences = (pod.metadata.ownerReferences ?? []).map((owner) =>
    owner.controller === true ? { ...owner, uid } : owner,
  );
  return { ...pod, metadata: { ...pod.metadata, ownerReferences } };
}
