import { group, placements } from '../../cluster/names.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Authorizer } from '../plugins.ts';

const reads = new Set(['get', 'list', 'watch']);

/**
 * Placements say what runs on physical clusters, past capacity, taints and who may place: only the scheduler, the
 * splitter and the other controllers of the server write and delete them, whatever else the asker may do.
 */
export function placementsBySystem(authorize: Authorizer): Authorizer {
  return (attributes) => {
    const { user, resource, verb } = attributes;
    const isWrite = attributes.group === group && resource === placements.resource && !reads.has(verb);
    if (isWrite && !isOwnController(user))
      return { allowed: false, reason: 'placements are written by the system' };
    return authorize(attributes);
  };
}
