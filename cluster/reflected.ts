import type { GroupVersionResource } from '../kube/gvk.ts';

/** What physical clusters make of our workloads and logical clusters show. Never placed: it has a source. */
export interface ReflectedKind extends GroupVersionResource {
  kind: string;
  /** One cluster's object has one name here; or those of one name on several clusters are one object here. */
  shared: boolean;
}

const table: readonly [group: string, resource: string, kind: string, shared: boolean][] = [
  ['', 'pods', 'Pod', false],
  ['', 'events', 'Event', false],
  ['', 'endpoints', 'Endpoints', true],
  ['apps', 'replicasets', 'ReplicaSet', true],
  ['apps', 'controllerrevisions', 'ControllerRevision', true],
  ['batch', 'jobs', 'Job', false],
  ['discovery.k8s.io', 'endpointslices', 'EndpointSlice', false],
];

export const reflectedKinds: readonly ReflectedKind[] = table.map(([group, resource, kind, shared]) => ({
  ...{ group, version: 'v1', resource, kind, shared },
}));

/** Fails for a resource that is not reflected. */
export function reflectedKind(resource: string): ReflectedKind {
  const found = reflectedKinds.find((kind) => kind.resource === resource);
  if (!found) throw new Error(`${resource} are not reflected`);
  return found;
}
