import { groupResource } from '../kube/gvk.ts';
import type { ObjectRef } from './types.ts';

const kinds = new Set([
  'deployments.apps',
  'daemonsets.apps',
  'replicationcontrollers',
  'jobs.batch',
  'cronjobs.batch',
]);

/** Whose pods have names of their own, so that nothing that is left of the former one is in the way of what is made anew. */
export function startsBeside(ref: Pick<ObjectRef, 'group' | 'resource'>): boolean {
  return kinds.has(groupResource(ref));
}
