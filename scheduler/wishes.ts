import { clustersAnnotation, placedByAnnotation, schedulerUser } from '../cluster/names.ts';
import { parseClusters } from '../cluster/placement.ts';
import type { KubeObject } from '../kube/object.ts';

export interface Wish {
  names: string[];
  /** Who asks, for the reasons: "its annotation". */
  source: string;
}

function annotation(object: KubeObject | undefined, key: string): string | undefined {
  const { annotations = {} } = object?.metadata ?? {};
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

export function isSchedulers(object: KubeObject): boolean {
  return annotation(object, placedByAnnotation) === schedulerUser;
}

/** What the scheduler itself wrote on the object; undefined when it has not. */
export function schedulersNote(object: KubeObject): string | undefined {
  return isSchedulers(object) ? annotation(object, clustersAnnotation) : undefined;
}

/** What a user asks for on the object itself. An annotation that nobody signed is a user's. */
export function ownWish(object: KubeObject): Wish | undefined {
  if (isSchedulers(object)) return undefined;
  const names = parseClusters(annotation(object, clustersAnnotation));
  return names.length > 0 ? { names, source: 'its annotation' } : undefined;
}

export function namespaceWish(namespace: KubeObject | undefined): Wish | undefined {
  const names = parseClusters(annotation(namespace, clustersAnnotation));
  return names.length > 0 ? { names, source: "its Namespace's annotation" } : undefined;
}
