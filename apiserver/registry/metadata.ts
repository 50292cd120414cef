import { randomUUID } from 'node:crypto';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { conflict, type GroupResource, StatusError, staleObject } from '../../kube/status.ts';

/** RFC 3339 with seconds, as Kubernetes writes times. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** What a client may not choose on create. Changes `object`, whose metadata the caller owns. */
export function initialiseMetadata(object: KubeObject, now: Date): void {
  const {
    resourceVersion: _version,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    ...kept
  } = object.metadata;
  delete (kept as { selfLink?: unknown }).selfLink;
  object.metadata = { ...kept, uid: randomUUID(), creationTimestamp: timestamp(now) };
}

const systemOwned = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const;

/** What an update cannot change stays as it was. */
export function keepSystemMetadata(object: KubeObject, old: KubeObject): void {
  const metadata: ObjectMeta = { ...object.metadata };
  for (const field of systemOwned) {
    // A client that gives the uid has been held to it; one that sets a time of deletion is refused.
    if (!field.startsWith('deletion')) delete metadata[field];
    if (old.metadata[field] !== undefined) Object.assign(metadata, { [field]: old.metadata[field] });
  }
  delete (metadata as { selfLink?: unknown }).selfLink;
  Object.assign(metadata, { name: old.metadata.name });
  if (old.metadata.namespace !== undefined) metadata.namespace = old.metadata.namespace;
  object.metadata = metadata;
}

/** uid and resourceVersion in an update are preconditions. */
export function checkPreconditions(next: KubeObject, old: KubeObject, of: GroupResource): void {
  const { uid, resourceVersion, name = '' } = next.metadata;
  const have = old.metadata;
  if (uid !== undefined && uid !== '' && uid !== have.uid) {
    const key = ['/registry', of.resource, have.namespace, have.name].filter(Boolean).join('/');
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${have.uid}`;
    throw conflict(
      of,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  }
  if (resourceVersion && resourceVersion !== have.resourceVersion) throw conflict(of, name, staleObject);
}

/** Preconditions of a delete; `kind` is what kube-apiserver names there. */
export function checkDeletePreconditions(
  wanted: { uid?: string; resourceVersion?: string },
  object: KubeObject,
): void {
  const { uid, resourceVersion, name = '' } = object.metadata;
  const refuse = (why: string) => {
    const message = `Operation cannot be fulfilled on ${object.kind} "${name}": ${why}`;
    throw new StatusError(409, 'Conflict', message, { name, kind: object.kind });
  };
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    refuse(
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    refuse(
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}
