import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { conflict, type GroupResource, StatusError, staleObject } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { randomUid } from '../../kube/uuid.ts';

/** What a client may not choose on create. Changes `object`, whose metadata the caller owns. */
export function initialiseMetadata(object: KubeObject, now: number): void {
  const metadata: ObjectMeta & { selfLink?: unknown } = object.metadata;
  // Mostly none is there, and to delete what is not there is no small thing to ask of V8.
  if (metadata.resourceVersion !== undefined) delete metadata.resourceVersion;
  if (metadata.deletionTimestamp !== undefined) delete metadata.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds !== undefined) delete metadata.deletionGracePeriodSeconds;
  if (metadata.selfLink !== undefined) delete metadata.selfLink;
  metadata.uid = randomUid();
  metadata.creationTimestamp = timestamp(now);
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
    // Who sets a time of deletion, another uid in a patch, or another grace is refused when the object is validated.
    if (field === 'uid' && metadata.uid) continue;
    if (field === 'deletionGracePeriodSeconds' && metadata[field] !== undefined) continue;
    if (!field.startsWith('deletion')) delete metadata[field];
    if (old.metadata[field] !== undefined) Object.assign(metadata, { [field]: old.metadata[field] });
  }
  delete (metadata as { selfLink?: unknown }).selfLink;
  Object.assign(metadata, { name: old.metadata.name });
  if (old.metadata.namespace !== undefined) metadata.namespace = old.metadata.namespace;
  object.metadata = metadata;
}

/**
 * uid (of what is put, not of what is patched) and resourceVersion in an update are preconditions. `have` is the
 * object that is there; without metadata there is none.
 */
export function checkPreconditions(
  next: KubeObject,
  have: Partial<ObjectMeta>,
  resource: GroupResource,
  patched = false,
): void {
  const { uid, resourceVersion, name = '', namespace } = next.metadata;
  if (!patched && uid !== undefined && uid !== '' && uid !== have.uid) {
    const key = ['/registry', storedUnder[resource.resource] ?? resource.resource, namespace, name]
      .filter(Boolean)
      .join('/');
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${have.uid ?? ''}`;
    throw conflict(
      resource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  }
  if (!resourceVersion || resourceVersion === have.resourceVersion) return;
  if (!/^[0-9]+$/.test(resourceVersion)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${quoteGo(resourceVersion)}: invalid syntax`);
  }
  throw conflict(resource, name, staleObject);
}

/** What kube-apiserver calls resources in its store, where it is not their name. */
const storedUnder: Readonly<Record<string, string>> = {
  apiservices: 'apiregistration.k8s.io/apiservices',
  customresourcedefinitions: 'apiextensions.k8s.io/customresourcedefinitions',
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};

interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

/** Of a delete. Kinds that delete in a way of their own also say so in their own way. */
export function checkDeletePreconditions(
  wanted: Preconditions,
  object: KubeObject,
  resource: GroupResource & { kind: string },
): void {
  const { uid, resourceVersion, name = '' } = object.metadata;
  const staleUid = wanted.uid !== undefined && wanted.uid !== uid;
  if (!staleUid && (wanted.resourceVersion ?? resourceVersion) === resourceVersion) return;
  if (deletesItself(resource)) {
    const [what, asked, has] = staleUid
      ? ['UID', wanted.uid, uid]
      : ['ResourceVersion', wanted.resourceVersion, resourceVersion];
    throw conflict(
      resource,
      name,
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${has}`,
    );
  }
  const why = staleUid
    ? `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    : `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
  const group = resource.group === 'events.k8s.io' ? '' : resource.group;
  throw conflict({ group, resource: resource.kind }, name, why);
}

/** Namespaces and definitions of custom resources first say that they are going. */
export function deletesItself({ group, resource }: GroupResource): boolean {
  return resource === 'namespaces' ? group === '' : resource === 'customresourcedefinitions';
}
