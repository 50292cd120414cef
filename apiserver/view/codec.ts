import { decodeJson, encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';

/** Keys of the shared store that the view reads or writes. Names were checked by route.ts. */
export const keys = {
  everything: { start: '/', end: '0' },
  placements: '/atoll.dev/placements/',
  collection: (of: { group: string; resource: string }) => `/${of.group || 'core'}/${of.resource}/`,
  placement: (logical: string, namespace: string, name: string) =>
    `/atoll.dev/placements/${logical}/${namespace}/${name}`,
  pod: (logical: string, namespace: string, name: string) => `/core/pods/${logical}/${namespace}/${name}`,
  namespace: (logical: string, namespace: string) => `/core/namespaces/${logical}/${namespace}`,
  object: (ref: { group: string; resource: string; name: string }, logical: string, namespace: string) =>
    `/${ref.group || 'core'}/${ref.resource}/${logical}/${namespace}/${ref.name}`,
  physicalCluster: (name: string) => `/atoll.dev/physicalclusters/root/${name}`,
};

/** `/group/resource/logical/namespace/name` of a namespaced object. */
export function placeOf(key: string): { logical: string; namespace: string; name: string } {
  const [, , , logical = '', namespace = '', name = ''] = key.split('/');
  return { logical, namespace, name };
}

export function parse<T extends KubeObject = KubeObject>(bytes: Uint8Array): T {
  return decodeJson(bytes).value as unknown as T;
}

/** As it is served: with its resourceVersion. */
export function decode<T extends KubeObject = KubeObject>(entry: Entry): T {
  const object = parse<T>(entry.value);
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.revision) } };
}

/** As it is stored: kind, apiVersion and metadata first, no resourceVersion. */
export function encode(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata;
  return Buffer.from(encodeJson({ kind, apiVersion, metadata: kept, ...rest }));
}
