import { sameJson } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { applyServerSide } from '../../../kube/patch/managed.ts';
import { aggregatedRules, aggregates, selectsLabels } from '../../../kube/rbac/aggregate.ts';
import { rbacGroup } from '../../../kube/rbac/rule.ts';
import { isStatusError } from '../../../kube/status.ts';
import { decodeStored } from '../codec.ts';
import { managementOf } from '../managers.ts';
import type { ObjectRegistry } from '../types.ts';

const resource = 'clusterroles';
const manager = 'clusterrole-aggregation-controller';
const mostRounds = 20;

type Concerned = (role: KubeObject) => boolean;

/**
 * Writes the rules of the ClusterRoles that aggregate others, until they are what the others say: who writes last looks
 * again, so that of two servers at once none leaves out what the other wrote.
 */
export async function aggregateAll(
  registry: ObjectRegistry,
  cluster: string,
  concerns: Concerned = () => true,
): Promise<void> {
  // Rules that somebody else wrote stay where no role is selected.
  const settled = new Set<string | undefined>();
  for (let round = 0; round < mostRounds; round++) {
    const all = await rolesOf(registry, cluster);
    const isDue = (role: KubeObject) => !settled.has(role.metadata.name) && isStale(role, all);
    const stale = all.find((role) => isDue(role) && concerns(role));
    if (stale === undefined) return;
    const version = await aggregate(registry, cluster, stale, aggregatedRules(stale, all));
    if (version === stale.metadata.resourceVersion) settled.add(stale.metadata.name);
  }
}

/** Those that a ClusterRole with the labels of `now` or `before` is, or was, a part of, and itself. */
export function concerning(
  now: KubeObject | undefined,
  before: KubeObject | undefined,
): Concerned | undefined {
  const name = (now ?? before)?.metadata.name;
  const labels = [now, before].flatMap((role) => (role?.metadata.labels ? [role.metadata.labels] : []));
  const itself = now !== undefined && aggregates(now);
  if (!itself && labels.length === 0) return undefined;
  return (role) =>
    (itself && role.metadata.name === name) || labels.some((some) => selectsLabels(role, some));
}

function isStale(role: KubeObject, all: readonly KubeObject[]): boolean {
  if (!aggregates(role) || role.metadata.deletionTimestamp !== undefined) return false;
  return !sameJson((role['rules'] ?? []) as Json, aggregatedRules(role, all));
}

async function rolesOf(registry: ObjectRegistry, cluster: string): Promise<KubeObject[]> {
  const served = registry.find(cluster, rbacGroup, resource);
  if (served === undefined) return [];
  const { entries } = await registry.readAll(served, cluster, '');
  return entries.map((entry) => decodeStored(entry));
}

/** The resourceVersion that it has then, where that is known. */
async function aggregate(
  registry: ObjectRegistry,
  cluster: string,
  { metadata: { name = '' } }: KubeObject,
  rules: Json[],
): Promise<string | undefined> {
  const served = registry.find(cluster, rbacGroup, resource);
  if (served === undefined) return undefined;
  const by = { ...managementOf(registry, cluster, served, {}), manager, force: true };
  const change = (current: KubeObject) => {
    const { kind, apiVersion } = current;
    const applied = { kind, apiVersion, metadata: { name }, ...(rules.length > 0 && { rules }) };
    return applyServerSide(current, applied, by).object;
  };
  try {
    const at = { cluster, group: rbacGroup, resource, name };
    const now = await registry.update(at, change, { managed: true, manager });
    return now.metadata.resourceVersion;
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    return undefined;
  }
}
