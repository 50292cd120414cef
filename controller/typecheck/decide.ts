import type { GroupVersionKind, GroupVersionResource } from '../../kube/gvk.ts';
import { listAt, strings } from '../../kube/untyped.ts';

/** Of one rule: whoever names so many kinds has no others checked. */
const mostKinds = 10;
/** Of one policy; kube-controller-manager looks up all that a rule's lists make together. */
const mostLookups = 1000;

/** The kinds that a resource may be: of the core group, those of any group that has it in the version. */
export type KindsFor = (resource: GroupVersionResource) => Promise<readonly GroupVersionKind[]>;

/**
 * The kinds that a policy's rules name without wildcards, in order. Of what nobody serves nothing is said.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking
 */
export async function kindsToCheck(spec: unknown, kindsFor: KindsFor): Promise<GroupVersionKind[]> {
  const found = new Map<string, GroupVersionKind>();
  let lookups = 0;
  for (const rule of listAt(spec, 'matchConstraints', 'resourceRules')) {
    let count = 0;
    for (const resource of resourcesOf(rule)) {
      if (++lookups > mostLookups) return inOrder(found);
      for (const kind of await kindsFor(resource)) {
        found.set(kindText(kind), kind);
        if (++count === mostKinds) return inOrder(found);
      }
    }
  }
  return inOrder(found);
}

function* resourcesOf(rule: unknown): Generator<GroupVersionResource> {
  const groups = strings(listAt(rule, 'apiGroups')).sort();
  const versions = strings(listAt(rule, 'apiVersions')).sort();
  if ([...groups, ...versions].some((name) => name.includes('*'))) return;
  const resources = strings(listAt(rule, 'resources'))
    .filter((name) => !/[*/]/.test(name))
    .sort();
  for (const group of groups)
    for (const version of versions)
      for (const resource of resources) yield { group, version, resource: resource.toLowerCase() };
}

function inOrder(found: ReadonlyMap<string, GroupVersionKind>): GroupVersionKind[] {
  const word = ({ group, version, kind }: GroupVersionKind) => [group, version, kind].join('\0');
  return [...found.values()].sort((a, b) => (word(a) < word(b) ? -1 : 1));
}

/** As Go prints a kind: `apps/v1, Kind=Deployment`. */
export function kindText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
