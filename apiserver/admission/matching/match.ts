import type { GroupVersionResource } from '../../../kube/gvk.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Rule, Selecting } from './selecting.ts';

/** What a rule looks at. */
export interface Target extends GroupVersionResource {
  subresource: string;
  /** Of a Namespace itself: its name. */
  namespace: string;
  operation: string;
  name: string;
}

/**
 * The resource in whose version the webhook wants to see the request; undefined: it does not. `equivalents` are
 * the other versions in which the same objects are served.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchpolicy
 */
export function matchedResource(
  hook: Pick<Selecting, 'rules' | 'equivalent'>,
  target: Target,
  equivalents: readonly GroupVersionResource[],
): GroupVersionResource | undefined {
  const { group, version, resource } = target;
  if (hook.rules.some((rule) => matches(rule, target))) return { group, version, resource };
  if (!hook.equivalent) return undefined;
  for (const rule of hook.rules) {
    const found = equivalents.find((other) => matches(rule, { ...target, ...other }));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a rule is about what the request is about, in the version of its URL, whatever that is called. */
export function hasRuleFor(
  selecting: Pick<Selecting, 'rules'>,
  request: Pick<AdmissionRequest, 'requested' | 'subresource' | 'operation' | 'namespace'>,
): boolean {
  const { requested, subresource, operation, namespace } = request;
  const { group, version, resource } = requested.info;
  const target = { group, version, resource, subresource, operation, namespace, name: '' };
  return selecting.rules.some((rule) => matches({ ...rule, names: [] }, target));
}

function matches(rule: Rule, target: Target): boolean {
  const has = (list: readonly string[], word: string) => list.includes('*') || list.includes(word);
  return (
    inScope(rule, target) &&
    (rule.names.length === 0 || rule.names.includes(target.name)) &&
    has(rule.operations, target.operation) &&
    has(rule.apiGroups, target.group) &&
    has(rule.apiVersions, target.version) &&
    rule.resources.some((pattern) => covers(pattern, target))
  );
}

/** Namespaces are cluster-scoped, although their requests name one. */
function inScope({ scope }: Rule, { namespace, group, resource }: Target): boolean {
  if (scope === '*') return true;
  const clusterScoped = namespace === '' || (group === '' && resource === 'namespaces');
  return scope === (clusterScoped ? 'Cluster' : 'Namespaced');
}

function covers(pattern: string, { resource, subresource }: Target): boolean {
  const slash = pattern.indexOf('/');
  const main = slash < 0 ? pattern : pattern.slice(0, slash);
  const sub = slash < 0 ? '' : pattern.slice(slash + 1);
  return (main === '*' || main === resource) && (sub === '*' || sub === subresource);
}
