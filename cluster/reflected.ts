import type { GroupVersionResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { heldAnnotation, reflectedFromAnnotation, reflectedUidAnnotation } from './names.ts';
import { formatClusters, parseClusters } from './placement.ts';

/** What physical clusters make of our workloads and logical clusters show. Never placed: it has a source. */
export interface ReflectedKind extends GroupVersionResource {
  kind: string;
  /** One cluster's object has one name here; or those of one name on several clusters are one object here. */
  shared: boolean;
}

const table: readonly [group: string, resource: string, kind: string, shared: boolean][] = [
  ['', 'pods', 'Pod', false],
  ['', 'persistentvolumeclaims', 'PersistentVolumeClaim', false],
  ['', 'events', 'Event', false],
  ['', 'endpoints', 'Endpoints', true],
  ['apps', 'replicasets', 'ReplicaSet', true],
  ['apps', 'controllerrevisions', 'ControllerRevision', true],
  ['batch', 'jobs', 'Job', false],
  ['discovery.k8s.io', 'endpointslices', 'EndpointSlice', false],
];

export const reflectedKinds: readonly ReflectedKind[] = table.map(([group, resource, kind, shared]) => ({
  group,
  version: 'v1',
  resource,
  kind,
  shared,
}));

/** Fails for a resource that is not reflected. */
export function reflectedKind(resource: string): ReflectedKind {
  const found = reflectedKinds.find((kind) => kind.resource === resource);
  if (!found) throw new Error(`${resource} are not reflected`);
  return found;
}

type Annotations = Record<string, string>;

/**
 * The physical clusters that this object is reflected from; none: it is somebody's own. What says so names the
 * object's own uid: kubectl copies annotations from one object to another, and on a copy they say nothing.
 */
export function reflectedFrom({ metadata: { uid, annotations } }: KubeObject): string[] {
  if (annotations === undefined || uid === undefined) return [];
  if (getOwn(annotations, reflectedUidAnnotation) !== uid) return [];
  return parseClusters(getOwn(annotations, reflectedFromAnnotation));
}

export function isReflected(object: KubeObject): boolean {
  return reflectedFrom(object).length > 0;
}

/** What it was reflected from has gone; it is here for its finalizers alone, and nobody's but who takes these away. */
export function isHeld(object: KubeObject): boolean {
  const { uid, annotations } = object.metadata;
  return isReflected(object) && getOwn(annotations ?? {}, heldAnnotation) === uid;
}

/** The annotations with which the object of this uid is reflected from these clusters. */
export function reflectedAs(
  annotations: Annotations | undefined,
  uid: string,
  clusters: Iterable<string>,
): Annotations {
  return {
    ...annotations,
    [reflectedFromAnnotation]: formatClusters(clusters),
    [reflectedUidAnnotation]: uid,
  };
}

/** Of our domains or kcp's: what a physical cluster says under such a name is not passed on. */
export function isOurs(name: string): boolean {
  return /^([^/]*\.)?(atoll\.dev|kcp\.io)\//.test(name);
}
