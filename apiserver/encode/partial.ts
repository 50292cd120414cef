import type { KubeObject, ObjectMeta } from '../../kube/object.ts';

/** An object's metadata alone. */
export function partial(object: KubeObject, version: string): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.kind === 'DaemonSet' ? unconverted(object.metadata) : object.metadata,
  };
}

const generation = 'deprecated.daemonset.template.generation';

/** What only the conversion to apps/v1 writes, which a Table or metadata alone does not go through. */
function unconverted(metadata: ObjectMeta): ObjectMeta {
  if (metadata.annotations === undefined) return metadata;
  const { annotations, ...rest } = metadata;
  const { [generation]: _, ...others } = annotations;
  return Object.keys(others).length === 0 ? rest : { ...rest, annotations: others };
}
