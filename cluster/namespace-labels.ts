import { podSecurityPrefix } from '../kube/pod-security/policy.ts';
import { digest } from './digest.ts';
import { group, logicalClusterLabel, logicalNamespaceLabel, rootCluster } from './names.ts';
import type { Locator } from './types.ts';

/** Each Placement of the Namespace says them. */
const mostLabels = 64;
const nameLabel = 'kubernetes.io/metadata.name';
/** Under which users' labels are on physical namespaces: nobody else's policies trust what bears it. */
const suffix = `labels.${group}`;
/** Whose prefixes mean something to a cluster itself; a pattern has to name them. */
const reserved = ['kubernetes.io', 'k8s.io', 'openshift.io'];

/**
 * The labels of a Namespace that its Placements say: those of pod security and then the first by name, so many in all.
 * What of them a physical namespace bears, and how, labelsThere says.
 */
export function carriedLabels(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(ranked(labels).slice(0, mostLabels));
}

/** Those that are beyond that, by their keys. */
export function labelsBeyond(labels: Readonly<Record<string, string>> = {}): string[] {
  return ranked(labels)
    .slice(mostLabels)
    .map(([key]) => key);
}

function ranked(labels: Readonly<Record<string, string>>): [string, string][] {
  const carried = Object.entries(labels).filter(([key]) => key !== nameLabel);
  const rank = ([key, value]: [string, string]) => `${isSafe(key, value) ? 0 : 1}${key}`;
  return carried.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** It is one of pod security, and goes to no cluster as it is written unless that one's administrator lets it in. */
export function isHeldBack(key: string, value: string): boolean {
  return key.startsWith(podSecurityPrefix) && !isSafe(key, value);
}

/**
 * What a physical namespace bears of the labels of its logical one. Each is there under keyThere, where it says nothing
 * to anybody but the user's own policies. As it is written is there only what cannot lift anything that the cluster
 * asks, and what the cluster's administrator lets in by a pattern: a key, `prefix/*`, or `*`.
 */
export function labelsThere(
  labels: Readonly<Record<string, string>>,
  patterns: readonly string[] = [],
): Record<string, string> {
  const there: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    there[keyThere(key)] = value;
    if (isSafe(key, value) || isLetIn(key, patterns)) there[key] = value;
  }
  return there;
}

/** `team` is `labels.atoll.dev/team` there, `corp.example/team` is `corp.example.labels.atoll.dev/team`. */
export function keyThere(key: string): string {
  if (key === nameLabel) return logicalNamespaceLabel;
  const slash = key.indexOf('/');
  if (slash < 0) return `${suffix}/${key}`;
  const prefix = key.slice(0, slash);
  const fits = prefix.length + 1 + suffix.length <= 253;
  return `${fits ? prefix : digest(prefix, 16)}.${suffix}${key.slice(slash)}`;
}

/**
 * What logicalClusterLabel says: the id, which nobody shares. Root's is the same in every Atoll, and two may use one
 * physical cluster: there the registration tells them apart.
 */
export function markOf({ cluster, syncer }: Locator): string {
  return cluster === rootCluster ? `${cluster}-${digest(syncer, 8)}` : cluster;
}

/** On a physical namespace it is ours by its key alone, whoever wrote it. */
export function isOwnKey(key: string): boolean {
  return key === logicalClusterLabel || key === logicalNamespaceLabel || isBelow(prefixOf(key), suffix);
}

/** https://kubernetes.io/docs/concepts/security/pod-security-admission/ */
function isSafe(key: string, value: string): boolean {
  if (!key.startsWith(podSecurityPrefix)) return false;
  switch (key.slice(podSecurityPrefix.length)) {
    case 'enforce':
      return value === 'restricted';
    case 'warn':
    case 'audit':
      return value === 'restricted' || value === 'baseline';
    case 'warn-version':
    case 'audit-version':
      return /^(latest|v1\.(0|[1-9]\d{0,5}))$/.test(value);
    default:
      return false;
  }
}

function isLetIn(key: string, patterns: readonly string[]): boolean {
  const prefix = prefixOf(key);
  if (key === nameLabel || isBelow(prefix, group)) return false;
  if (patterns.includes(key) || (prefix !== '' && patterns.includes(`${prefix}/*`))) return true;
  return patterns.includes('*') && !reserved.some((one) => isBelow(prefix, one));
}

function prefixOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}

function isBelow(prefix: string, domain: string): boolean {
  return prefix === domain || prefix.endsWith(`.${domain}`);
}
