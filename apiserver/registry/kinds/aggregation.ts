import { setImmediate } from 'node:timers/promises';
import { sameJson } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { applyServerSide } from '../../../kube/patch/managed.ts';
import { aggregatedRules, aggregates, CanonicalRules, selectsLabels } from '../../../kube/rbac/aggregate.ts';
import { rbacGroup } from '../../../kube/rbac/rule.ts';
import { isStatusError } from '../../../kube/status.ts';
import { listAt } from '../../../kube/untyped.ts';
import { decodeStored } from '../codec.ts';
import { managementOf } from '../managers.ts';
import type { ObjectRegistry } from '../types.ts';
import type { KindWrite } from './hooks.ts';

const resource = 'clusterroles';
const manager = 'clusterrole-aggregation-controller';
const mostRounds = 20;
/** Rules of that many are read within some milliseconds. */
const mostAtOnce = 1000;
const mostBytesAtOnce = 500_000;

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
  const due: Due = { concerns, parts: [], settled: new Set(), canonical: new CanonicalRules() };
  for (let round = 0; round < mostRounds; round++) {
    if (!(await settle(registry, cluster, await rolesOf(registry, cluster), due))) return;
  }
}

interface Due {
  concerns: Concerned;
  /** What was written meanwhile, which others may be of. */
  parts: KubeObject[];
  /** Rules that somebody else wrote stay where no role is selected. */
  settled: Set<string>;
  canonical: CanonicalRules;
}

/**
 * Each that is due once, and those that it is a part of after it; whether any was written. Roles may be large and many:
 * whoever else asks for something is answered between any two of them.
 */
async function settle(
  registry: ObjectRegistry,
  cluster: string,
  all: KubeObject[],
  due: Due,
): Promise<boolean> {
  const { concerns, parts, settled, canonical } = due;
  const known = new Map(all.map((role) => [role.metadata.name ?? '', role]));
  const gathering = all.filter((role) => aggregates(role) && role.metadata.deletionTimestamp === undefined);
  const isOf = (role: KubeObject, part: KubeObject) =>
    role.metadata.name !== part.metadata.name && selectsLabels(role, part.metadata.labels);
  const queue = new Set(
    gathering
      .filter((role) => concerns(role) || parts.some((part) => isOf(role, part)))
      .map(({ metadata }) => metadata.name ?? ''),
  );
  let wrote = false;
  // What is added is gone through, too; what changes once more after it was looked at is for the next round.
  for (const name of queue) {
    const role = known.get(name);
    if (role === undefined || settled.has(name)) continue;
    await readAhead(role, known.values(), canonical);
    const rules = aggregatedRules(role, [...known.values()], canonical);
    if (sameJson((role['rules'] ?? []) as Json, rules)) continue;
    const now = await aggregate(registry, cluster, role, rules);
    wrote = true;
    if (now === undefined) continue;
    if (now.metadata.resourceVersion === role.metadata.resourceVersion) settled.add(name);
    known.set(name, now);
    parts.push(now);
    for (const other of gathering) {
      if (isOf(other, now)) queue.add(other.metadata.name ?? '');
    }
  }
  return wrote;
}

async function readAhead(
  role: KubeObject,
  all: Iterable<KubeObject>,
  canonical: CanonicalRules,
): Promise<void> {
  let read = 0;
  const selectors = listAt(role, 'aggregationRule', 'clusterRoleSelectors').length;
  for (const other of all) {
    read += selectors;
    if (selectsLabels(role, other.metadata.labels)) read += canonical.of(other).keys.length;
    if (read < mostAtOnce) continue;
    read = 0;
    await setImmediate();
  }
}

/** Whether it is this that writes: those of which it is a part are written next. */
export function isAggregating({ user, manager: by }: KindWrite): boolean {
  return user === undefined && by === manager;
}

/** Those that a ClusterRole with the labels of `now` or `before` is, or was, a part of, and itself. */
export function concerning(
  now: KubeObject | undefined,
  before: KubeObject | undefined,
): Concerned | undefined {
  if (now && before && saysTheSame(now, before)) return undefined;
  const name = (now ?? before)?.metadata.name;
  const labels = [now, before].flatMap((role) => (role?.metadata.labels ? [role.metadata.labels] : []));
  const itself = now !== undefined && aggregates(now);
  if (!itself && labels.length === 0) return undefined;
  return (role) =>
    (itself && role.metadata.name === name) || labels.some((some) => selectsLabels(role, some));
}

/** As far as it matters to others, or to itself. */
function saysTheSame(now: KubeObject, before: KubeObject): boolean {
  const said = ({ rules, aggregationRule, metadata: { labels } }: KubeObject) => [
    rules,
    aggregationRule,
    labels,
  ];
  return sameJson(said(now), said(before));
}

async function rolesOf(registry: ObjectRegistry, cluster: string): Promise<KubeObject[]> {
  const served = registry.find(cluster, rbacGroup, resource);
  if (served === undefined) return [];
  const { entries } = await registry.readAll(served, cluster, '');
  const roles: KubeObject[] = [];
  let bytes = 0;
  for (const entry of entries) {
    roles.push(decodeStored(entry));
    bytes += entry.value.length;
    if (bytes < mostBytesAtOnce) continue;
    bytes = 0;
    await setImmediate();
  }
  return roles;
}

/** As it is then, where that is known. */
async function aggregate(
  registry: ObjectRegistry,
  cluster: string,
  { metadata: { name = '' } }: KubeObject,
  rules: Json[],
): Promise<KubeObject | undefined> {
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
    return await registry.update(at, change, { managed: true, manager });
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
    return undefined;
  }
}
