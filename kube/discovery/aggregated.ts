import { formatApiVersion, type GroupVersionKind } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import type { ResourceInfo } from '../schema/resource.ts';
import type { OtherVersion } from './extension.ts';
import { type Group, groupsOf, isBuiltinGroup, resourcesOf } from './groups.ts';

export type AggregatedVersion = 'v2' | 'v2beta1';

/**
 * Aggregated discovery: every resource in one document, in place of /api (`core`) or /apis, for those who accept
 * `application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`. kubectl before 1.30 knows v2beta1 only.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
 */
export function aggregatedDiscovery(
  resources: readonly ResourceInfo[],
  version: AggregatedVersion,
  core: boolean,
  others: readonly OtherVersion[] = [],
): JsonObject {
  const groups = groupsOf(resources, others).filter((group) => (group.name === '') === core);
  const ofOthers = new Map(others.map((one) => [formatApiVersion(one), one]));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => groupDiscovery(resources, group, ofOthers)),
  };
}

/** The media type that answers an aggregated request. */
export function aggregatedContentType(version: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

function groupDiscovery(
  resources: readonly ResourceInfo[],
  group: Group,
  others: ReadonlyMap<string, OtherVersion>,
): JsonObject {
  return {
    metadata: group.name === '' ? {} : { name: group.name },
    versions: group.versions.map((version) => {
      const other = others.get(formatApiVersion({ group: group.name, version }));
      if (other)
        return {
          version,
          ...(other.resources?.length && { resources: [...other.resources] }),
          freshness: other.stale ? 'Stale' : 'Current',
        };
      return {
        version,
        resources: resourcesOf(resources, { group: group.name, version }).map(resourceDiscovery),
        freshness: 'Current',
      };
    }),
  };
}

function resourceDiscovery(resource: ResourceInfo): JsonObject {
  const { shortNames, categories, subresources } = resource;
  return {
    resource: resource.resource,
    responseKind: responseKind(resource, resource),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: [...resource.verbs],
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((sub) => ({
        subresource: sub.name,
        responseKind: responseKind(sub, resource),
        verbs: [...sub.verbs],
      })),
    }),
  };
}

/** Empty group and version stand for those of the list; custom resources name theirs. */
function responseKind(of: GroupVersionKind, within: GroupVersionKind): JsonObject {
  const same = isBuiltinGroup(within.group) && of.group === within.group && of.version === within.version;
  return same
    ? { group: '', version: '', kind: of.kind }
    : { group: of.group, version: of.version, kind: of.kind };
}
