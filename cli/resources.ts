/** The resources that the commands speak of. */
export { logicalClusters, physicalClusters, placements, workspaces } from '../cluster/names.ts';
export const secrets = { group: '', version: 'v1', resource: 'secrets' };
/** The Secret, in the system namespace, in which `cluster add` keeps how to reach a physical cluster. */
export const credentialsOf = (cluster: string): string => `physicalcluster-${cluster}`;
export const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
