import type { GroupVersionKind, GroupVersionResource } from '../../kube/gvk.ts';
import type { Later } from '../../kube/later.ts';
import { listAt, strings } from '../../kube/untyped.ts';

/** Of one rule: whoever names so many kinds has no others checked. */
const mostKinds = 10;
/** Of one policy, where kube-controller-manager checks those of any number of rules that each name fewer than ten. */
const mostOfAll = 50;
/** Of one policy; kube-controller-manager looks up all that a rule's lists make together. */
const mostLookups = 1000;

/** The kinds that a resource may be: of the core group, those of any group that has it in the version. */
export type KindsFor = (resource: GroupVersionResource) => Promise<readonly GroupVersionKind[]>;

/**
 * The kinds that a policy's rules name without wildcards, in order. Of what nobody serves nothing is said.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking
 */
export async function kindsToCheck(
  spec: unknown,
  kindsFor: KindsFor,
  turn: () => Later<void>,
): Promise<GroupVersionKind[]> {
  const found = new Map<string, GroupVersionKind>();
  let lookups = 0;
  for (const rule of listAt(spec, 'matchConstraints', 'resourceRules')) {
    let count = 0;
    await turn();
    for (const resource of resourcesOf(rule)) {
      if (++lookups > mostLookups) return inOrder(found);
      for (const kind of await kindsFor(resource)) {
        found.set(kindText(kind), kind);
        if (++count === mostKinds || found.size === mostOfAll) return inOrder(found);
      }
      await turn();
    }
  }
  return inOrder(found);
}

function* resourcesOf(rule: unknown): Generator<GroupVersionResource> {
  const lists = ['apiGroups', 'apiVersions', 'resources'].map((name) => listAt(rule, name));
  // Nobody means so many: to put them in order alone would hold up others.
  if (lists.some(({ length }) => length > mostLookups)) return;
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
