/** The resources that the commands speak of. */
export {
  credentialsOf,
  logicalClusters,
  physicalClusters,
  placements,
  secrets,
  volumeCopies,
  workspaces,
} from '../cluster/names.ts';
export const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
