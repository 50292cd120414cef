import { readFileSync } from 'node:fs';
import type { KubeObject } from '../object.ts';
import { aggregatedRules, aggregates } from './aggregate.ts';
import { rbacGroup } from './rule.ts';

export const rbacResources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;
export type RbacResource = (typeof rbacResources)[number];

interface Line {
  kind: string;
  namespace?: string;
  name: string;
  labels?: Record<string, string>;
  [field: string]: unknown;
}

/**
 * The roles and bindings that every kube-apiserver 1.36 makes, as it makes them; roles that aggregate have their rules
 * already. scripts/generate/roles.mjs wrote the file. One copy for everybody: nobody may change it.
 */
export function bootstrapObjects(resource: RbacResource): readonly KubeObject[] {
  known ??= read();
  return known.get(resource) ?? [];
}

/** Changes when the objects do. */
export const bootstrapVersion = '1.36.3';

let known: ReadonlyMap<string, readonly KubeObject[]> | undefined;

function read(): Map<string, KubeObject[]> {
  const url = new URL('./generated/bootstrap.json', import.meta.url);
  const lines = JSON.parse(readFileSync(url, 'utf8')) as Line[];
  const objects = lines.map(objectOf);
  const aggregating = objects.filter(aggregates);
  // admin aggregates edit, which aggregates view.
  for (const _ of aggregating) for (const role of aggregating) role['rules'] = aggregatedRules(role, objects);
  const by = new Map<string, KubeObject[]>(rbacResources.map((resource) => [resource, []]));
  for (const object of objects) by.get(`${object.kind.toLowerCase()}s`)?.push(object);
  return by;
}

function objectOf({ kind, namespace, name, labels, ...said }: Line): KubeObject {
  return {
    kind,
    apiVersion: `${rbacGroup}/v1`,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
    ...said,
  };
}
