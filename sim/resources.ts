/** What a simulated cluster's controllers work on. */
export const resources = {
  pods: { group: '', version: 'v1', resource: 'pods' },
  nodes: { group: '', version: 'v1', resource: 'nodes' },
  services: { group: '', version: 'v1', resource: 'services' },
  claims: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  controllers: { group: '', version: 'v1', resource: 'replicationcontrollers' },
  deployments: { group: 'apps', version: 'v1', resource: 'deployments' },
  replicaSets: { group: 'apps', version: 'v1', resource: 'replicasets' },
  statefulSets: { group: 'apps', version: 'v1', resource: 'statefulsets' },
  daemonSets: { group: 'apps', version: 'v1', resource: 'daemonsets' },
  jobs: { group: 'batch', version: 'v1', resource: 'jobs' },
  disruptionBudgets: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
} as const;
