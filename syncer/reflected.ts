import {
  claimOfAnnotation,
  givenOwnersAnnotation,
  locatorAnnotation,
  orphanOfAnnotation,
  setLocatorAnnotation,
} from '../cluster/names.ts';
import { isAsReported } from '../cluster/peers.ts';
import type { ReflectedKind } from '../cluster/reflected.ts';
import type { Retry } from '../controller/controller.ts';
import type { KubeObject } from '../kube/object.ts';

/** A logical namespace. */
export interface Place {
  cluster: string;
  namespace: string;
  /** The Namespace's; empty where that is not known. */
  uid: string;
}

/** What is shown of an object. */
export interface Reflected extends Omit<Place, 'uid'> {
  /** Of the reflection. */
  uid: string | undefined;
  /** Of what it shows; undefined: shown before we started. */
  source: string | undefined;
  /** When what it shows was made. */
  created: string | null | undefined;
  digest: string;
}

/** Whose it is may not be asked at present: when to try again. Until then nothing of it changes up there. */
export const unknownMs = 10_000;

/** What owns it may have been made a moment ago, and not be in our caches yet: when to look again. */
export function ownerMayCome({ metadata }: KubeObject): Retry | undefined {
  const owned = metadata.ownerReferences?.some(({ controller }) => controller === true);
  return owned && isYoung({ metadata }) ? { after: 1_000 } : undefined;
}

export function isYoung({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return Date.now() - Date.parse(metadata.creationTimestamp ?? '') < 30_000;
}

/** The metadata that goes up; what proves ownership there says nothing here. */
export function reflectedMetadata({ metadata }: KubeObject): KubeObject['metadata'] {
  const {
    name,
    generateName,
    labels,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  } = metadata;
  const {
    [locatorAnnotation]: _,
    [setLocatorAnnotation]: _____,
    [orphanOfAnnotation]: __,
    [claimOfAnnotation]: ___,
    [givenOwnersAnnotation]: ____,
    ...annotations
  } = metadata.annotations ?? {};
  return {
    ...(name && { name }),
    ...(generateName && { generateName }),
    ...(labels && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(deletionTimestamp && { deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
  };
}

/**
 * The server has yet to hear that the cluster has a share of its owner, or that what stands between them has that owner:
 * then it is under nobody, or under the owner itself.
 */
export function isUnderOther(sent: KubeObject, written: KubeObject): boolean {
  // Whose a claim is its logical cluster says.
  if (written.kind === 'PersistentVolumeClaim') return false;
  const meant = sent.metadata.ownerReferences?.find(({ controller }) => controller !== false);
  const found = written.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return meant !== undefined && (meant.kind !== found?.kind || meant.name !== found.name);
}

/** Its source was made anew under the same name, as a StatefulSet's pods are: another object, up there too. */
export function isOfFormer(
  { shared }: ReflectedKind,
  { source, created }: Reflected,
  { metadata }: KubeObject,
): boolean {
  if (shared) return false;
  return source === undefined ? created !== metadata.creationTimestamp : source !== metadata.uid;
}

/** In the logical cluster, where it is shown. */
export function isAltered({ kind }: ReflectedKind, object: KubeObject): boolean {
  return kind === 'EndpointSlice' && !isAsReported(object);
}

/** What a physical namespace of ours looks like; the locator decides, this only spares memory. */
export const ourShape = /-[0-9a-f]{8}$/;

/** Foreign objects are kept as names only. */
export function slim(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, managedFields: _, ...metadata } = object.metadata;
  const names = {
    ...(name && { name }),
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
  const { apiVersion, kind } = object;
  if (!ourShape.test(namespace ?? '')) return { apiVersion, kind, metadata: names };
  return { ...object, metadata: { ...metadata, ...names } };
}
