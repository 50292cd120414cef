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

/** The resources of an APIResourceList, as aggregated discovery has them: subresources in their resource. */
export function otherResources(list: unknown, gv: GroupVersion): JsonObject[] {
  const given = isRecord(list) && Array.isArray(list['resources']) ? list['resources'].filter(isRecord) : [];
  const found = new Map<string, JsonObject & { subresources?: Json[] }>();
  const isSub = ({ name }: Record<string, unknown>) => String(name).includes('/');
  for (const one of given.filter((each) => !isSub(each))) {
    const { name, namespaced, singularName, shortNames, categories } = one;
    if (typeof name !== 'string' || name === '') continue;
    found.set(name, {
      resource: name,
      responseKind: kindOf(one, gv),
      scope: namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: typeof singularName === 'string' ? singularName : '',
      verbs: texts(one['verbs']),
      ...(texts(shortNames).length > 0 && { shortNames: texts(shortNames) }),
      ...(texts(categories).length > 0 && { categories: texts(categories) }),
    });
  }
  for (const one of given.filter(isSub)) {
    const [name = '', ...rest] = String(one['name']).split('/');
    const sub = { subresource: rest.join('/'), responseKind: kindOf(one, gv), verbs: texts(one['verbs']) };
    const of = found.get(name);
    if (of) of.subresources = [...(of.subresources ?? []), sub];
  }
  return [...found.values()];
}

function kindOf({ group, version, kind }: Record<string, unknown>, gv: GroupVersion): JsonObject {
  const text = (value: unknown, otherwise: string) =>
    typeof value === 'string' && value !== '' ? value : otherwise;
  return { group: text(group, gv.group), version: text(version, gv.version), kind: text(kind, '') };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
