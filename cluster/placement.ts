import { groupResource } from '../kube/gvk.ts';
import { digest } from './digest.ts';

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

/** The names in a clusters annotation: trimmed, unique, sorted. Empty when it is absent or blank. */
export function parseClusters(value: string | undefined): string[] {
  const names = (value ?? '').split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))].sort();
}

/** The same value: the clusters that it names, or those that it excludes by a leading `!`. Admission refuses both in one. */
export function parseWord(value: string | undefined): { names: string[]; exclude: string[] } {
  const all = parseClusters(value);
  const exclude = all.filter((name) => name.startsWith('!')).map((name) => name.slice(1).trim());
  return { names: all.filter((name) => !name.startsWith('!')), exclude };
}

export function formatClusters(names: Iterable<string>): string {
  return [...new Set(names)].sort().join(',');
}
