import type { KubeObject } from '../kube/object.ts';
import { locatorAnnotation, setLocatorAnnotation } from './names.ts';

/** The value of locatorAnnotation: which logical object a physical one stands for. */
export interface Locator {
  /** The PhysicalCluster's uid: a cluster registered anew owns nothing of its former self. */
  syncer: string;
  cluster: string;
  namespace: string;
  /** Absent on the Namespace itself, whose uid it then is: empty on those made before that counted. */
  resource?: string;
  name?: string;
  uid: string;
}

/** Which annotation it is on an object of this kind. */
export function locatorKey(kind: string): string {
  return kind === 'ReplicaSet' ? setLocatorAnnotation : locatorAnnotation;
}

/** As the object bears it: a ReplicaSet that a Deployment made bears that one's, as one of its own did once. */
export function locatorText({ kind, metadata: { annotations } }: KubeObject): string | undefined {
  return annotations?.[locatorKey(kind)] ?? annotations?.[locatorAnnotation];
}
