import { randomBytes } from 'node:crypto';
import { rootCluster } from './names.ts';

/** Everything behind the door knows a logical cluster by its id; `root`'s is `root`. */
const idLength = 16;

/**
 * Of a logical cluster that is about to be made: kcp's form, a DNS label of 16 letters and digits. Nobody has had it
 * and nobody will: not who is made under the same path next.
 */
export function newLogicalClusterId(): string {
  const digits = BigInt(`0x${randomBytes(16).toString('hex')}`).toString(36);
  return digits.padStart(idLength, '0').slice(-idLength);
}

/** True for what can only be a path, such as `root:team-a`: an id is one word. */
export function isPath(cluster: string): boolean {
  return cluster.includes(':');
}

/** The path of a Workspace, of its parent's. */
export function childPath(parent: string, name: string): string {
  return `${parent}:${name}`;
}

/** A logical cluster's path, beside its id: kcp's annotation of a LogicalCluster. */
export const pathAnnotation = 'kcp.io/path';

export function pathOfLogicalCluster(id: string, annotations?: Record<string, string>): string {
  return id === rootCluster ? rootCluster : (annotations?.[pathAnnotation] ?? id);
}
