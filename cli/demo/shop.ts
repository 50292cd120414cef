import { readFileSync } from 'node:fs';
import type { Client } from '../../client/client.ts';
import { clustersAnnotation } from '../../cluster/names.ts';
import { parseApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { decodeYaml } from '../../kube/yaml.ts';

export const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  ServiceAccount: 'serviceaccounts',
  Service: 'services',
  Deployment: 'deployments',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  PodDisruptionBudget: 'poddisruptionbudgets',
};

/** The small three-tier app of sim/samples/shop.yaml. */
export function shop(): KubeObject[] {
  const text = readFileSync(new URL('../../sim/samples/shop.yaml', import.meta.url), 'utf8');
  return text.split(/^---$/m).map((document) => decodeYaml(document).value as unknown as KubeObject);
}

/** `ConfigMap, 3 Services` */
export function summary(objects: readonly KubeObject[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, n]) => (n > 1 ? `${n} ${kind}s` : kind)).join(', ');
}

/** Into the namespace default; where an earlier demo's user moved a part, it follows the namespace again. */
export async function applyShop(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const resource = { ...parseApiVersion(object.apiVersion), resource: plurals[object.kind] ?? '' };
    const target = { namespace: 'default', name: object.metadata.name ?? '' };
    const applied = await client.patch(resource, target, 'apply', object, {
      fieldManager: 'atoll-demo',
      force: true,
    });
    if (applied.metadata.annotations?.[clustersAnnotation] === undefined) continue;
    const metadata = { annotations: { [clustersAnnotation]: null } };
    await client.patch(resource, target, 'merge', { metadata });
  }
}
