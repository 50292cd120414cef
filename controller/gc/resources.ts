import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import type { Informer } from '../../client/informer.ts';
import type { ResourceRef } from '../../client/url.ts';
import { rootCluster } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';

export type CustomResourceDefinition = KubeObject<{
  group: string;
  scope: string;
  names: { plural: string; kind: string };
  versions: { name: string; served: boolean; storage: boolean }[];
}>;

export const customResourceDefinitions: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** Events own nothing and are owned by nothing, and there are many. */
const ignored = new Set(['/events', 'events.k8s.io/events']);
const needed = ['list', 'watch', 'delete'];

/**
 * Everything that can be collected. On a plain Kubernetes discovery knows it; across logical clusters each of
 * which has its own CRDs, it is what the root serves and what any CRD anywhere defines.
 */
export async function collectable(
  client: Client,
  crds: Informer<CustomResourceDefinition>,
  wildcard: boolean,
  signal: AbortSignal,
): Promise<{ resources: DiscoveredResource[]; complete: boolean }> {
  const { resources, failed } = await discover(client, {
    signal,
    ...(wildcard && { cluster: rootCluster }),
  });
  const defined = wildcard ? crds.list().flatMap((crd) => fromDefinition(crd) ?? []) : [];
  const unique = new Map<string, DiscoveredResource>();
  for (const resource of [...resources, ...defined]) {
    const key = `${resource.group}/${resource.resource}`;
    if (!ignored.has(key) && !unique.has(key)) unique.set(key, resource);
  }
  const usable = [...unique.values()].filter(({ verbs }) => needed.every((verb) => verbs.includes(verb)));
  return { resources: usable, complete: failed.length === 0 };
}

function fromDefinition(crd: CustomResourceDefinition): DiscoveredResource | undefined {
  const { group, names, scope, versions } = crd.spec ?? {};
  const served = versions?.filter((version) => version.served) ?? [];
  const version = served.find(({ storage }) => storage) ?? served[0];
  if (!group || !names || !version) return undefined;
  const namespaced = scope === 'Namespaced';
  const { plural: resource, kind } = names;
  return { group, version: version.name, resource, kind, namespaced, verbs: needed };
}
