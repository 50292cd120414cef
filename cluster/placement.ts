import { createHash } from 'node:crypto';
import { groupResource } from '../kube/gvk.ts';
import { group } from './names.ts';

/** `frontend.deployments.apps`; past 253 characters the tail becomes a digest. */
export function placementName(ref: { group: string; resource: string; name: string }): string {
  const full = `${ref.name}.${groupResource(ref)}`;
  return full.length <= 253 ? full : `${full.slice(0, 236)}-${digest(full, 16)}`;
}

/**
 * The physical namespace of a logical one: readable, at most 63 characters, and never one that exists for
 * another reason, a former Namespace of the same name among them: that one had another uid. Without a uid: the name
 * that was given before uids counted. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
export function physicalNamespace(logicalCluster: string, namespace: string, uid = ''): string {
  const words = `${logicalCluster.replaceAll(':', '-')}-${namespace}`;
  const whole = [logicalCluster, namespace, ...(uid === '' ? [] : [uid])].join('/');
  return `${words.slice(0, 52).replace(/-+$/, '')}-${digest(whole, 8)}`;
}

/** Each Placement of the Namespace says them. */
const mostLabels = 64;

/**
 * The labels of a Namespace that its physical namespaces bear, the first so many by name: all but the system's, which
 * differ there, and those that would lift what the cluster asks of every pod.
 */
export function carriedLabels(labels: Record<string, string> = {}): Record<string, string> {
  const carried = Object.entries(labels).filter(([key, value]) => !isSystemLabel(key) && !lifts(key, value));
  return Object.fromEntries(carried.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, mostLabels));
}

/** https://kubernetes.io/docs/concepts/security/pod-security-admission/ */
function lifts(key: string, value: string): boolean {
  return key.startsWith('pod-security.kubernetes.io/') && value === 'privileged';
}

function isSystemLabel(key: string): boolean {
  const prefix = key.slice(0, Math.max(0, key.indexOf('/')));
  return key === 'kubernetes.io/metadata.name' || prefix === group || prefix.endsWith(`.${group}`);
}

/** The names in a clusters annotation: trimmed, unique, sorted. Empty when it is absent or blank. */
export function parseClusters(value: string | undefined): string[] {
  const names = (value ?? '').split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))].sort();
}

export function formatClusters(names: Iterable<string>): string {
  return [...new Set(names)].sort().join(',');
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
