/** Commands whose outputs may differ, and why; docs/reference/differences.md says more. The first that fits counts. */
export const explained: readonly (readonly [line: RegExp, reason: string])[] = [
  [
    /endpoints (web|db|.*db)$|,endpoints$/,
    'Endpoints are not reflected; EndpointSlices, which took their place, are',
  ],
  [/--show-managed-fields/, 'the managers of status and placement are ours'],
  [/create token/, 'TokenRequest is not served yet'],
  [/run job .*-o yaml/, 'a pod gets its token, tolerations and priority on the cluster that runs it'],
  [/quota|^get deploy,svc,cm|^describe ns/, 'no controller counts quotas in a logical cluster yet'],
  [/ --as=/, 'no RBAC and no impersonation yet'],
  [/^auth whoami/, 'the oracle knows its user by a token file, which gives no uid'],
  [/^describe pv /, 'no controller binds volumes in a logical cluster'],
  [
    /^describe pdb|^describe hpa|^events$/,
    'what guards or scales nothing that is placed is looked at by no controller',
  ],
  [
    /-l app=web -o custom-columns=K:.kind/,
    'a workload that is orphaned leaves its cluster with all that it made there',
  ],
];

export function reasonFor(line: string): string | undefined {
  return explained.find(([pattern]) => pattern.test(line))?.[1];
}
