import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, type Discovery, discover } from '../../client/discovery.ts';
import type { Informer } from '../../client/informer.ts';
import { logicalClusterOf, type ResourceRef } from '../../client/url.ts';
import { rootCluster } from '../../cluster/names.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';

export type CustomResourceDefinition = KubeObject<
  {
    group: string;
    scope: string;
    names: { plural: string; kind: string };
    versions: { name: string; served: boolean; storage: boolean }[];
  },
  { conditions?: { type: string; status: string; reason?: string }[] }
>;

export const customResourceDefinitions: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** Events own nothing and are owned by nothing, and there are many. */
const ignored = new Set(['/events', 'events.k8s.io/events']);
const needed = ['list', 'watch', 'delete'];
/** No definition takes their place. */
const builtin = new Set(builtinResources.map(groupResource));

export interface Found {
  /** What every logical cluster serves; on a plain Kubernetes all. */
  common: DiscoveredResource[];
  /** What can be collected, each resource once, whoever serves it. */
  watched: DiscoveredResource[];
  /** Everybody answered: what is missing is not served. */
  complete: boolean;
}

/** On a plain Kubernetes all that is served; across logical clusters what the root serves. */
export function served(client: Client, wildcard: boolean, signal: AbortSignal): Promise<Discovery> {
  return discover(client, { signal, ...(wildcard && { cluster: rootCluster }) });
}

/** Across logical clusters, each of which has its own CRDs, it is what the root serves and what any CRD anywhere defines. */
export function collectable(
  { resources, failed }: Discovery,
  crds: Informer<CustomResourceDefinition>,
  wildcard: boolean,
): Found {
  const complete = failed.length === 0 && (crds.hasSynced || !wildcard);
  const defined = wildcard ? crds.list().flatMap((crd) => fromDefinition(crd) ?? []) : [];
  const own = wildcard ? crds.list().filter((crd) => logicalClusterOf(crd) === rootCluster) : [];
  const names = new Set(own.map(({ metadata }) => metadata.name));
  const common = resources.filter((of) => builtin.has(groupResource(of)) || !names.has(groupResource(of)));
  const unique = new Map<string, DiscoveredResource>();
  for (const resource of [...common, ...defined]) {
    const key = `${resource.group}/${resource.resource}`;
    if (!ignored.has(key) && !unique.has(key)) unique.set(key, resource);
  }
  const watched = [...unique.values()].filter(({ verbs }) => needed.every((verb) => verbs.includes(verb)));
  return { common, watched, complete };
}

/** Undefined for one that is not served. */
export function fromDefinition(crd: CustomResourceDefinition): DiscoveredResource | undefined {
  const { spec } = crd;
  const { group, names, scope, versions } = spec ?? {};
  const served = versions?.filter((version) => version.served) ?? [];
  const version = served.find(({ storage }) => storage) ?? served[0];
  if (!group || !names || !version || !hasNames(crd)) return undefined;
  const namespaced = scope === 'Namespaced';
  const { plural: resource, kind } = names;
  return { group, version: version.name, resource, kind, namespaced, verbs: needed };
}

/**
 * False where another definition had them first: nothing is served or stored under them on behalf of this one. What was
 * established keeps those that it had, whatever it asks for since.
 */
export function hasNames({ status }: CustomResourceDefinition): boolean {
  const is = (condition: string, value: string) =>
    status?.conditions?.some((one) => one.type === condition && one.status === value) === true;
  return is('Established', 'True') || !is('NamesAccepted', 'False');
}
