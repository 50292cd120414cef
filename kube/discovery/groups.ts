import type { GroupVersion } from '../gvk.ts';
import { builtinResources } from '../schema/builtin.ts';
import type { ResourceInfo } from '../schema/resource.ts';
import { definedPriority, type OtherVersion } from './extension.ts';

/** One API group with its versions, preferred first. */
export interface Group {
  readonly name: string;
  readonly versions: readonly string[];
}

/**
 * The groups that `resources` make, the core group ('') first: built-in groups in kube-apiserver's order, then all
 * others by name; versions by Kubernetes' version priority.
 */
export function groupsOf(resources: readonly ResourceInfo[], others: readonly OtherVersion[] = []): Group[] {
  if (others.length > 0) return merged(groupsOf(resources), others);
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of resources) {
    const known = versions.get(group);
    if (known) known.add(version);
    else versions.set(group, new Set([version]));
  }
  return [...versions]
    .map(([name, of]) => ({ name, versions: [...of].sort(compareVersions) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

/** What others serve comes after what is built in, with what definitions do, by its priorities. */
function merged(here: readonly Group[], others: readonly OtherVersion[]): Group[] {
  const groups = new Map<string, { priority: number; versions: Map<string, number>; mixed: boolean }>();
  for (const { name, versions } of here) {
    const priorities = new Map(versions.map((version) => [version, definedPriority.version]));
    groups.set(name, { priority: definedPriority.group, versions: priorities, mixed: false });
  }
  for (const { group, version, groupPriority, versionPriority } of others) {
    const known = groups.get(group) ?? { priority: 0, versions: new Map<string, number>(), mixed: true };
    known.priority = Math.max(known.priority, groupPriority);
    known.versions.set(version, versionPriority);
    known.mixed = true;
    groups.set(group, known);
  }
  const byPriority = ([a, ofA]: [string, number], [b, ofB]: [string, number]) =>
    ofB - ofA || compareVersions(a, b);
  return [...groups]
    .map(([name, { priority, versions, mixed }]) => {
      const ordered = mixed ? [...versions].sort(byPriority) : [...versions];
      return { name, rank: rank(name), priority, versions: ordered.map(([version]) => version) };
    })
    .sort((a, b) => a.rank - b.rank || b.priority - a.priority || (a.name < b.name ? -1 : 1))
    .map(({ name, versions }) => ({ name, versions }));
}

export function resourcesOf(resources: readonly ResourceInfo[], gv: GroupVersion): ResourceInfo[] {
  return resources
    .filter((r) => r.group === gv.group && r.version === gv.version)
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

const builtinOrder = [...new Set(builtinResources.map((r) => r.group))];

export function isBuiltinGroup(group: string): boolean {
  return builtinOrder.includes(group);
}

function rank(group: string): number {
  const index = builtinOrder.indexOf(group);
  return index < 0 ? builtinOrder.length : index;
}

/**
 * Orders versions as a group lists them: v2, v1, v1beta1, v1alpha1, then names of other forms alphabetically.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
export function compareVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left === right) return a < b ? -1 : a > b ? 1 : 0;
    return left === undefined ? 1 : -1;
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function parse(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return { stage, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
