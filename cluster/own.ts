import type { KubeObject } from '../kube/object.ts';
import type { ResourceInfo } from '../kube/schema/resource.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';

/** One of our own kinds, as the API server serves it beside the built-ins. */
export interface OwnResource {
  info: ResourceInfo;
  schema: ObjectSchema;
  columns: readonly {
    name: string;
    type: string;
    format: string;
    description: string;
    priority: number;
    jsonPath: string;
    /** In place of what is at jsonPath. */
    compute?(object: KubeObject): string;
  }[];
  /** What is wrong with it beyond its metadata; absent: nothing else is looked at. */
  validate?(object: KubeObject, old: KubeObject | undefined, subresource: string): StatusCause[];
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export function info(
  names: Pick<ResourceInfo, 'group' | 'version' | 'kind' | 'resource' | 'namespaced'> & {
    shortNames?: string[];
    statusWithRest?: boolean;
    unmanaged?: boolean;
  },
): ResourceInfo {
  const { group, version, kind, resource, namespaced, shortNames = [], statusWithRest, unmanaged } = names;
  const status = { name: 'status', group, version, kind, verbs: ['get', 'patch', 'update'] };
  return {
    group,
    version,
    kind,
    resource,
    namespaced,
    verbs,
    shortNames,
    singular: kind.toLowerCase(),
    categories: [],
    subresources: [status],
    storageVersion: version,
    ...(statusWithRest && { statusWithRest }),
    ...(unmanaged && { unmanaged }),
  };
}

export function column(
  name: string,
  type: string,
  jsonPath: string,
  priority = 0,
): OwnResource['columns'][number] {
  return { name, type, format: '', description: '', priority, jsonPath };
}

export function computed<T extends KubeObject>(
  name: string,
  compute: (object: T) => string,
): OwnResource['columns'][number] {
  return { ...column(name, 'string', ''), compute: (object) => compute(object as T) };
}

export const age = column('Age', 'date', '.metadata.creationTimestamp');
