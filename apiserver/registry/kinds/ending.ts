import type { KubeObject } from '../../../kube/object.ts';

/** controller/definition/ takes it away, when nothing of what is defined is left. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Of a definition: whether it is going, and its objects before it. */
export function isEnding({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
