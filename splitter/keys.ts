import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { placementName } from '../cluster/placement.ts';
import type { Placement } from '../cluster/types.ts';
import type { VolumeCopy } from '../cluster/volume-copy.ts';
import type { KubeObject } from '../kube/object.ts';
import { targetOf } from './autoscaler.ts';
import { serviceTold } from './led.ts';

export const autoscalers = {
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
} as const;
const services = { group: '', resource: 'services' } as const;

/** Of the key of an object in it. */
export function namespaceKey(key: string): string {
  const { cluster, namespace } = parseKey(key);
  return keyOf(cluster, '', namespace);
}

/** The key of its Placement, of a slice that a cluster has told of. */
export function serviceOf(slice: KubeObject): string[] | undefined {
  const name = serviceTold(slice);
  return name === undefined ? undefined : [serviceBeside(slice, name)];
}

export function placementOfService(service: KubeObject): string {
  return serviceBeside(service, service.metadata.name ?? '');
}

function serviceBeside(object: KubeObject, name: string): string {
  const { cluster, namespace } = parseKey(objectKey(object));
  return keyOf(cluster, namespace, placementName({ ...services, name }));
}

/** The key of the Placement of what an autoscaler scales. */
export function placementOfTarget(autoscaler: KubeObject): string[] | undefined {
  const target = targetOf(autoscaler);
  if (!target) return undefined;
  const { cluster, namespace } = parseKey(objectKey(autoscaler));
  return [keyOf(cluster, namespace, placementName({ ...target.kind, name: target.name }))];
}

/** The key of the Placement of the workload that waits for a copy. */
export function placementOfCopy(copy: VolumeCopy): string[] | undefined {
  const { workload } = copy.spec ?? {};
  if (!workload) return undefined;
  const { cluster, namespace } = parseKey(objectKey(copy));
  return [keyOf(cluster, namespace, placementName(workload))];
}

/** Autoscalers follow the shares of what they scale, budgets those of what they cover, quotas those of their namespace. */
const following: ReadonlySet<string> = new Set([
  'horizontalpodautoscalers',
  'poddisruptionbudgets',
  'resourcequotas',
]);
/** Services and Ingresses follow whether what is behind them comes or goes. */
const leading: ReadonlySet<string> = new Set(['services', 'ingresses']);

/** The keys of those that follow it. */
export function followersOf(placement: Placement): string[] {
  return [...followingOf(placement), ...leadingTo(placement)];
}

export function followingOf(placement: Placement): string[] {
  return required(placement, following);
}

export function leadingTo(placement: Placement): string[] {
  return required(placement, leading);
}

function required(placement: Placement, resources: ReadonlySet<string>): string[] {
  const { cluster, namespace } = parseKey(objectKey(placement));
  return (placement.spec?.requires ?? [])
    .filter(({ resource }) => resources.has(resource))
    .map((ref) => keyOf(cluster, namespace, placementName(ref)));
}
