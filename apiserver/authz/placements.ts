import { group, placements } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import type { Authorizer } from '../options.ts';
import { mastersGroup } from './masters.ts';

const reads = new Set(['get', 'list', 'watch']);

/**
 * Placements say what runs on physical clusters, past capacity, taints and who may place: only the scheduler, the
 * splitter and the other controllers of the server write and delete them, whatever else the asker may do.
 */
export function placementsBySystem(authorize: Authorizer): Authorizer {
  return (attributes) => {
    const { user, resource, verb } = attributes;
    const isWrite = attributes.group === group && resource === placements.resource && !reads.has(verb);
    if (isWrite && !isSystem(user)) return { allowed: false, reason: 'placements are written by the system' };
    return authorize(attributes);
  };
}

/** From inside: no certificate or token of this name is ever given out. */
function isSystem({ name, groups }: UserInfo): boolean {
  return name.startsWith('system:atoll:') && groups.includes(mastersGroup);
}
