import { isPath, pathAnnotation } from '../../cluster/logical.ts';
import {
  isSystemNamespace,
  logicalClusterFinalizer,
  physicalNamespaceAnnotation,
  reflectedFromAnnotation,
  reflectedUidAnnotation,
  rootCluster,
} from '../../cluster/names.ts';
import { physicalNamespace } from '../../cluster/placement.ts';
import { reflectedKinds } from '../../cluster/reflected.ts';
import type { Placement, PlacementSpec } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';
import { internalPrefix } from '../registry/keys.ts';

export interface Known {
  /** Of each path. */
  ids: ReadonlyMap<string, string>;
  /** The uids of Namespaces, by `<id>/<name>`. */
  namespaces: ReadonlyMap<string, string>;
}

const formerInternal = 'internal.atoll.dev';
const secretsParts = 4;
const pools = new Set(['clusterips', 'nodeports']);

/** Where an entry of the former format belongs, and what it says there; of one of this format: itself. */
export function rewritten({ key, value, ...entry }: Entry, known: Known): { key: string; value: Uint8Array } {
  if (key.startsWith(internalPrefix)) return { key, value };
  const [, group = '', resource = '', cluster = '', ...rest] = key.split('/');
  if (group === formerInternal && resource === 'secrets' && key.split('/').length === secretsParts) {
    return { key: `${internalPrefix}secrets/${cluster}`, value };
  }
  const id = known.ids.get(cluster) ?? cluster;
  if (group === formerInternal && pools.has(resource)) {
    return { key: `${internalPrefix}${resource}/${[id, ...rest].join('/')}`, value };
  }
  const change = changes[`${group}/${resource}`];
  const moved = id === cluster ? key : `/${[group, resource, id, ...rest].join('/')}`;
  if (change === undefined) return { key: moved, value };
  const object = decodeStored({ key, value, ...entry });
  const changed = change(object, { path: cluster, id }, known);
  return { key: moved, value: changed === object ? value : encodeStored(changed) };
}

/** `path` is the id where the entry was moved already: then nothing that comes of a path is to be said any more. */
interface Where {
  path: string;
  id: string;
}

/** Answers the object itself where there is nothing to change. */
type Change = (object: KubeObject, at: Where, known: Known) => KubeObject;

const changes: Readonly<Record<string, Change>> = {
  'core/namespaces': namespace,
  'atoll.dev/placements': placement,
  'tenancy.kcp.io/workspaces': workspace,
  'core.kcp.io/logicalclusters': logicalCluster,
  ...Object.fromEntries(
    reflectedKinds.map(({ group, resource }) => [`${group || 'core'}/${resource}`, reflection]),
  ),
};

/** Whatever is placed in it, now or later, stays together where the first of it is. */
function namespace(object: KubeObject, { path, id }: Where): KubeObject {
  const { name = '', annotations } = object.metadata;
  const isNew = annotations?.[physicalNamespaceAnnotation] !== undefined || isMoved(path, id);
  if (isNew || isSystemNamespace(name)) return object;
  return annotated(object, physicalNamespaceAnnotation, physicalNamespace(path, name));
}

/** What runs goes on where it is: the Placement says the namespace that its former name leads to. */
function placement(object: KubeObject, { path, id }: Where, { namespaces }: Known): KubeObject {
  const { spec, metadata } = object as Placement;
  if (spec === undefined || spec.physicalNamespace !== undefined || isMoved(path, id)) return object;
  const { namespace: name = '' } = metadata;
  const namespaceUid = namespaces.get(`${id}/${name}`);
  const home: Partial<PlacementSpec> = {
    ...(namespaceUid !== undefined && { namespaceUid }),
    physicalNamespace: physicalNamespace(path, name),
  };
  return { ...object, spec: { ...spec, ...home } };
}

function workspace(object: KubeObject, { path }: Where, { ids }: Known): KubeObject {
  const { cluster, ...spec } = (object.spec ?? {}) as { cluster?: string };
  const before = isPath(cluster ?? '') ? cluster : undefined;
  const own =
    before ?? (isPath(path) || path === rootCluster ? `${path}:${object.metadata.name}` : undefined);
  const id = own === undefined ? undefined : ids.get(own);
  return id === undefined || id === cluster ? object : { ...object, spec: { ...spec, cluster: id } };
}

function logicalCluster(object: KubeObject, { path }: Where, { ids }: Known): KubeObject {
  if (!isPath(path)) return object;
  const { owner, ...spec } = (object.spec ?? {}) as { owner?: Record<string, string> };
  const parent = owner?.['cluster'];
  const { finalizers = [], annotations } = object.metadata;
  const metadata = {
    ...object.metadata,
    annotations: { ...annotations, [pathAnnotation]: path },
    finalizers: [...new Set([...finalizers, logicalClusterFinalizer])],
  };
  const owned = owner && { owner: { ...owner, cluster: ids.get(parent ?? '') ?? parent ?? '' } };
  return { ...object, metadata, spec: { ...spec, ...owned } };
}

/** What is reflected says so with its own uid: a copy of the annotation alone says nothing any more. */
function reflection(object: KubeObject): KubeObject {
  const { uid, annotations } = object.metadata;
  const isOf = annotations?.[reflectedFromAnnotation] !== undefined;
  if (!isOf || uid === undefined || annotations[reflectedUidAnnotation] !== undefined) return object;
  return annotated(object, reflectedUidAnnotation, uid);
}

function annotated(object: KubeObject, key: string, value: string): KubeObject {
  const { annotations } = object.metadata;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [key]: value } } };
}

function isMoved(path: string, id: string): boolean {
  return path === id && path !== rootCluster;
}
