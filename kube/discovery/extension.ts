import type { GroupVersion } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord } from '../untyped.ts';

/** A version of a group that another API server serves, with what its APIService says of its place. */
export interface OtherVersion extends GroupVersion {
  groupPriority: number;
  versionPriority: number;
  /** As aggregated discovery has them. */
  resources?: readonly JsonObject[];
  /** It does not answer now: the resources are those that it had. */
  stale?: boolean;
}

/** What definitions have; kube-apiserver gives each of their groups and versions as much. */
export const definedPriority = { group: 1000, version: 100 };

/** Of one version, subresources counted: what says more is not believed. */
export const mostResources = 1000;

/** Whether it is the same in a path as in a document, and leads nowhere else. */
export function isResourceName(name: unknown): name is string {
  return (
    typeof name === 'string' && name.length <= 253 && /^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/.test(name)
  );
}

/**
 * The resources of an APIResourceList, as aggregated discovery has them: subresources in their resource. What cannot be read
 * of it is left out; undefined: there are too many.
 */
export function otherResources(list: unknown, gv: GroupVersion): JsonObject[] | undefined {
  const all = isRecord(list) && Array.isArray(list['resources']) ? list['resources'] : [];
  if (all.length > mostResources) return undefined;
  const given = all.filter(isRecord);
  const found = new Map<string, { resource: JsonObject; subresources: Json[] }>();
  for (const one of given) {
    const { name, namespaced, singularName, shortNames, categories } = one;
    if (!isResourceName(name)) continue;
    const resource = {
      resource: name,
      responseKind: kindOf(one, gv),
      scope: namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: typeof singularName === 'string' ? singularName : '',
      verbs: texts(one['verbs']),
      ...(texts(shortNames).length > 0 && { shortNames: texts(shortNames) }),
      ...(texts(categories).length > 0 && { categories: texts(categories) }),
    };
    found.set(name, { resource, subresources: [] });
  }
  for (const one of given) {
    const name = typeof one['name'] === 'string' ? one['name'] : '';
    const slash = name.indexOf('/');
    if (slash < 0) continue;
    const sub = {
      subresource: name.slice(slash + 1),
      responseKind: kindOf(one, gv),
      verbs: texts(one['verbs']),
    };
    found.get(name.slice(0, slash))?.subresources.push(sub);
  }
  return [...found.values()].map(({ resource, subresources }) =>
    subresources.length > 0 ? { ...resource, subresources } : resource,
  );
}

function kindOf({ group, version, kind }: Record<string, unknown>, gv: GroupVersion): JsonObject {
  const text = (value: unknown, otherwise: string) =>
    typeof value === 'string' && value !== '' ? value : otherwise;
  return { group: text(group, gv.group), version: text(version, gv.version), kind: text(kind, '') };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
