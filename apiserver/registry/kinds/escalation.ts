import { sameJson } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { quoteGo } from '../../../kube/quote.ts';
import { compactRules, missingRules, piecesIn } from '../../../kube/rbac/covers.ts';
import { describeRule, type PolicyRule, quoteList, rbacGroup, rulesOf } from '../../../kube/rbac/rule.ts';
import { badRequest, forbidden, notFound, StatusError } from '../../../kube/status.ts';
import { listAt, textAt } from '../../../kube/untyped.ts';
import { mastersGroup } from '../../authz/masters.ts';
import type { KindWrite } from './hooks.ts';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/** Each is compared with what the user has. The roles of the largest operators have some thousands. */
const mostPieces = 50_000;

/** Of one piece with one rule; of most pieces a handful. What is beyond would keep everybody waiting. */
const mostComparisons = 1_000_000;

/**
 * Nobody gives a role rights that they have not themselves, unless they may `escalate`. Throws StatusError 403.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
export async function confirmRole(
  write: KindWrite,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<void> {
  const { resource } = write.served.info;
  const named = old === undefined ? '' : (object.metadata.name ?? '');
  if (mayAnything(write) || (await may(write, object, { verb: 'escalate', resource, name: named }))) return;
  if (onlyCollected(object, old)) return;
  confirm(write, object, rulesOf(object));
  if (!hasSelectors(object) && !(old && hasSelectors(old))) return;
  if (missing(write, object, everything)?.length === 0) return;
  const why = 'must have cluster-admin privileges to use the aggregationRule';
  throw forbidden(write.served.info, object.metadata.name ?? '', why);
}

/** Nor binds a role with such rights, unless they may `bind` it. */
export async function confirmBinding(
  write: KindWrite,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<void> {
  if (mayAnything(write) || (old && onlyCollected(object, old))) return;
  const kind = textAt(object, 'roleRef', 'kind') ?? '';
  const name = textAt(object, 'roleRef', 'name') ?? '';
  const isRole = kind === 'Role' || kind === 'ClusterRole';
  const resource = `${kind.toLowerCase()}s`;
  if (isRole && (await may(write, object, { verb: 'bind', resource, name }))) return;
  const { namespace = '' } = object.metadata;
  const rules = write.registry.roles.index.rules(write.cluster, { kind, name }, namespace);
  if (kind === 'Role' && namespace === '') throw badRequest('Namespace parameter required.');
  // As kube-apiserver says it, whatever it is that was not found.
  if (typeof rules === 'string' && isRole) throw notFound(write.served.info, name);
  if (typeof rules === 'string') throw new StatusError(500, '', rules);
  confirm(write, object, rules);
}

/** The server itself writes without a user. */
function mayAnything({ user }: KindWrite): boolean {
  return user === undefined || user.groups.includes(mastersGroup);
}

async function may(
  { user, authorize, cluster }: KindWrite,
  { metadata: { namespace = '' } }: KubeObject,
  what: { verb: string; resource: string; name: string },
): Promise<boolean> {
  if (user === undefined || authorize === undefined) return false;
  const asked = { user, cluster, namespace, group: rbacGroup, version: '*', subresource: '', ...what };
  return (await authorize(asked)).allowed;
}

/** As the garbage collector changes it. */
function onlyCollected(object: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && sameJson(uncollected(object), uncollected(old));
}

function uncollected({ metadata, ...rest }: KubeObject): Json {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _v, ...others } = metadata;
  return { ...rest, metadata: others } as unknown as Json;
}

function hasSelectors(role: KubeObject): boolean {
  return listAt(role, 'aggregationRule', 'clusterRoleSelectors').length > 0;
}

function missing(
  { registry, cluster, user }: KindWrite,
  { metadata: { namespace = '' } }: KubeObject,
  rules: readonly PolicyRule[],
): PolicyRule[] | undefined {
  if (user === undefined) return [];
  const { rules: held } = registry.roles.index.rulesFor(cluster, user, namespace);
  return missingRules(held, rules, mostComparisons);
}

function confirm(write: KindWrite, object: KubeObject, rules: readonly PolicyRule[]): void {
  const { user, registry, cluster, served } = write;
  if (piecesIn(rules) > mostPieces) {
    const why = `its rules come to more than ${mostPieces} combinations of verb and resource, which only who may escalate may grant`;
    throw forbidden(served.info, object.metadata.name ?? '', why);
  }
  const lacking = missing(write, object, rules);
  if (lacking === undefined) {
    const why = `its rules take more than ${mostComparisons} comparisons with those that ${quoteGo(user?.name ?? '')} holds: only who may escalate may grant them at once`;
    throw forbidden(served.info, object.metadata.name ?? '', why);
  }
  if (user === undefined || lacking.length === 0) return;
  const { namespace = '', name = '' } = object.metadata;
  const described = [...new Set(compactRules(lacking).map(describeRule))].sort();
  const { error } = registry.roles.index.rulesFor(cluster, user, namespace);
  const also = error === undefined ? '' : `; resolution errors: ${error}`;
  const who = `user ${quoteGo(user.name)} (groups=${quoteList(user.groups)})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${described.join('\n')}${also}`;
  throw forbidden(served.info, name, why);
}
