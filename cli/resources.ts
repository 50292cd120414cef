/** The resources that the commands speak of. */
export const physicalClusters = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };
export const placements = { group: 'atoll.dev', version: 'v1alpha1', resource: 'placements' };
export const workspaces = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' };
export const secrets = { group: '', version: 'v1', resource: 'secrets' };
export const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
