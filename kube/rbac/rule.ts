import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { record, records, strings } from '../untyped.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** What may be done. Absent lists are empty ones. https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
export interface PolicyRule {
  verbs: readonly string[];
  apiGroups: readonly string[];
  /** `pods`, `pods/log`, `*\/scale`, `*`. */
  resources: readonly string[];
  /** Empty: all of them. */
  resourceNames: readonly string[];
  nonResourceURLs: readonly string[];
}

/** What somebody wants to do. `path` is set for, and only for, a request about no resource. */
export interface Action {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  name: string;
  path?: string;
}

/** The rules of a Role or ClusterRole, as far as they are rules. */
export function rulesOf(role: unknown): PolicyRule[] {
  return records(record(role)['rules']).map(ruleOf);
}

function ruleOf(rule: JsonObject): PolicyRule {
  return {
    verbs: strings(rule['verbs']),
    apiGroups: strings(rule['apiGroups']),
    resources: strings(rule['resources']),
    resourceNames: strings(rule['resourceNames']),
    nonResourceURLs: strings(rule['nonResourceURLs']),
  };
}

/** The same for rules that say the same, in whatever order of fields, with lists absent or empty. */
export function canonicalRule(rule: unknown): string {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = ruleOf(record(rule));
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}

export function ruleAllows(rule: PolicyRule, action: Action): boolean {
  const { verbs, apiGroups, resourceNames, nonResourceURLs } = rule;
  if (!hasOrAll(verbs, action.verb)) return false;
  const { path } = action;
  if (path !== undefined) return nonResourceURLs.some((url) => coversUrl(url, path));
  return (
    hasOrAll(apiGroups, action.group) &&
    coversResource(rule.resources, action) &&
    (resourceNames.length === 0 || resourceNames.includes(action.name))
  );
}

function hasOrAll(list: readonly string[], one: string): boolean {
  return list.includes('*') || list.includes(one);
}

function coversResource(resources: readonly string[], { resource, subresource }: Action): boolean {
  if (subresource === '') return hasOrAll(resources, resource);
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

/** One path, or all that begin as it does before its trailing `*`. */
export function coversUrl(url: string, path: string): boolean {
  if (url === path || url === '*') return true;
  return url.endsWith('*') && path.startsWith(prefixOf(url));
}

/** Of `/a/*`: `/a/`. No pattern: one that begins at each of many `*` takes the square of them. */
export function prefixOf(url: string): string {
  let end = url.length;
  while (url[end - 1] === '*') end--;
  return url.slice(0, end);
}

/** As messages about escalation show a rule: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function describeRule(rule: PolicyRule): string {
  const { apiGroups, resources, nonResourceURLs, resourceNames, verbs } = rule;
  const parts: [string, readonly string[]][] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ];
  const given = parts.filter(([, list]) => list.length > 0);
  return `{${given.map(([name, list]) => `${name}:${quoteList(list)}`).join(', ')}}`;
}

/** As Go's %q shows a list. */
export function quoteList(list: readonly string[]): string {
  return `[${list.map(quoteGo).join(' ')}]`;
}
