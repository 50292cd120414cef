import type { KubeObject } from '../../kube/object.ts';

/** An object's metadata alone. */
export function partial(object: KubeObject, version: string): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  };
}
