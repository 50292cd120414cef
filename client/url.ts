import { logicalClusterAnnotation, rootCluster } from '../cluster/names.ts';
import type { GroupVersionResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';

export type ResourceRef = GroupVersionResource;

/** One object, or with `subresource` a part of it. `cluster` goes before the client's own. */
export interface Target {
  cluster?: string | undefined;
  namespace?: string | undefined;
  name: string;
  subresource?: string | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `/clusters/root:a/apis/apps/v1/namespaces/x/deployments/y/status`. */
export function pathOf(resource: ResourceRef, target: Partial<Target>): string {
  const { cluster, namespace, name, subresource } = target;
  const { group, version, resource: plural } = resource;
  return [
    clusterPath(cluster),
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '',
    `/${encodeURIComponent(plural)}`,
    name ? `/${encodeURIComponent(name)}` : '',
    subresource ? `/${subresource}` : '',
  ].join('');
}

export function clusterPath(cluster: string | undefined): string {
  return cluster === undefined ? '' : `/clusters/${encodeURIComponent(cluster).replaceAll('%3A', ':')}`;
}

const clusterPart = /\/clusters\/([^/]*)\/?$/;

/** The server itself, of a kubeconfig's URL that may be of one of its logical clusters; without a slash at the end. */
export function rootUrl(server: string): string {
  return server.replace(clusterPart, '').replace(/\/$/, '');
}

/** Path or id of the logical cluster that a kubeconfig's URL is of. */
export function clusterOfUrl(server: string): string {
  return decodeURIComponent(clusterPart.exec(server)?.[1] || rootCluster);
}

/** With its `?`; undefined values are left out. */
export function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Where an object of a wildcard read is; `root` for one that does not say. */
export function logicalClusterOf(object: KubeObject): string {
  return object.metadata.annotations?.[logicalClusterAnnotation] ?? rootCluster;
}

/** `<logical cluster>/<namespace>/<name>`; the namespace is empty for cluster-scoped objects. */
export function objectKey(object: KubeObject): string {
  const { namespace = '', name = '' } = object.metadata;
  return keyOf(logicalClusterOf(object), namespace, name);
}

export function keyOf(cluster: string, namespace: string, name: string): string {
  return `${cluster}/${namespace}/${name}`;
}

export function parseKey(key: string): { cluster: string; namespace: string; name: string } {
  const [cluster = '', namespace = '', ...rest] = key.split('/');
  return { cluster, namespace, name: rest.join('/') };
}
