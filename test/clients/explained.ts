/** Commands whose outputs may differ, and why. The first that fits counts. */
const explained: readonly (readonly [line: RegExp, reason: string])[] = [
  [
    /endpoints (web|db|.*db)$|,endpoints$/,
    'Endpoints are not reflected; EndpointSlices, which took their place, are',
  ],
  [/--show-managed-fields/, 'the managers of status and placement are ours'],
  [/^!drain /, 'no pod runs on a Node of a logical cluster: those of other sessions do on the oracle'],
  [/create token/, 'TokenRequest is not served yet'],
  [/run job .*-o yaml/, 'a pod gets its token, tolerations and priority on the cluster that runs it'],
  [/quota|^get deploy,svc,cm|^describe ns/, 'no controller counts quotas in a logical cluster yet'],
  [/ --as=/, 'no RBAC: whoever is not of system:masters may do nothing'],
  [/^describe pv |^get pv /, 'no controller binds volumes in a logical cluster'],
  [
    /^describe pdb|^describe hpa|^events$/,
    'what guards or scales nothing that is placed is looked at by no controller',
  ],
  [
    /-l app=web -o custom-columns=K:.kind/,
    'a workload that is orphaned leaves its cluster with all that it made there',
  ],
];

/** kubectl 1.20 prints managedFields with everything. */
const printsManagers = / -o (yaml|json)$|^!diff |--dry-run=server|^describe crd /;

export function reasonFor(line: string, kubectl: string): string | undefined {
  if (kubectl.includes('1.20') && printsManagers.test(line))
    return 'the managers of status and placement are ours';
  return explained.find(([pattern]) => pattern.test(line))?.[1];
}
