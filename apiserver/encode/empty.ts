import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { decodeProtobuf, encodeProtobuf, hasProtobuf } from '../../kube/protobuf/codec.ts';
import type { ServedResource } from '../served.ts';

/** Kinds whose replicas are a number where kube-apiserver makes the object, and so are written. */
const counted = new Set(['Deployment', 'ReplicaSet', 'StatefulSet']);
const generation = 'deprecated.daemonset.template.generation';

/**
 * A bookmark's object: metadata, and what Go writes of a kind whatever is in it. https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
 */
export function emptyObject({ info, custom }: ServedResource, metadata: KubeObject['metadata']): KubeObject {
  const bare = { kind: info.kind, apiVersion: formatApiVersion(info), metadata };
  if (custom || !hasProtobuf(info)) return bare;
  const empty = decodeProtobuf(encodeProtobuf(bare));
  if (info.group !== 'apps') return empty;
  if (counted.has(info.kind)) return { ...empty, spec: { replicas: 0, ...(empty.spec as object) } };
  if (info.kind !== 'DaemonSet') return empty;
  const annotations = { [generation]: '0', ...metadata.annotations };
  return { ...empty, metadata: { ...empty.metadata, annotations } };
}
