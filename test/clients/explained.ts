/** Commands whose outputs may differ, and why. The first that fits counts. */
const explained: readonly (readonly [line: RegExp, reason: string])[] = [
  [/run job .*-o yaml/, 'a pod gets its token, tolerations and priority on the cluster that runs it'],
  [/quota|^get deploy,svc,cm|^describe ns/, 'no controller counts quotas in a logical cluster yet'],
  [/^!create -f (kinds|more)\.yaml/, 'RuntimeClasses and PriorityClasses stay here, and say so'],
  [/ --as=/, 'no RBAC: whoever is not of system:masters may do nothing'],
  [/^describe pv |^get pv /, 'no controller binds volumes in a logical cluster'],
  [/^describe hpa|^events$/, 'what scales nothing that is placed is looked at by no controller'],
  [/^describe pdb/, 'that no pod matches a budget is in its status, and no event'],
];

export function reasonFor(line: string, kubectl: string): string | undefined {
  if (kubectl.includes('1.20') && line.startsWith('!diff '))
    return 'it compares managedFields too: those of status and placement are ours';
  return explained.find(([pattern]) => pattern.test(line))?.[1];
}
