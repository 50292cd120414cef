import { withoutLast } from '../trim.ts';
import type { GroupResources, Level, Policy, PolicyRule, Stage } from './types.ts';

/** What a policy looks at. `user` is undefined where nobody knows who asks. */
export interface Audited {
  user: { name: string; groups: readonly string[] } | undefined;
  verb: string;
  isResource: boolean;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
}

export interface Verdict {
  level: Level;
  omitStages: readonly Stage[];
  omitManagedFields: boolean;
}

/** The first rule that matches counts; without one nothing is recorded. k8s.io/apiserver/pkg/audit/policy/checker.go */
export function decideAudit(policy: Policy, asked: Audited): Verdict {
  const { omitStages = [], omitManagedFields = false } = policy;
  const rule = policy.rules.find((one) => matches(one, asked));
  if (rule === undefined) return { level: 'None', omitStages, omitManagedFields };
  return {
    level: rule.level,
    omitStages: rule.omitStages?.length ? [...new Set([...omitStages, ...rule.omitStages])] : omitStages,
    omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
  };
}

function matches(rule: PolicyRule, asked: Audited): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  const { user } = asked;
  if (some(users) && !(user && users.includes(user.name))) return false;
  if (some(userGroups) && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (some(verbs) && !verbs.includes(asked.verb)) return false;
  if (some(namespaces) || some(resources)) return matchesResource(rule, asked);
  return some(nonResourceURLs) ? matchesUrl(nonResourceURLs, asked) : true;
}

/** An empty list says as much as none. */
function some<T>(list: readonly T[] | undefined): list is readonly T[] {
  return list !== undefined && list !== null && list.length > 0;
}

function matchesUrl(urls: readonly string[], { isResource, path }: Audited): boolean {
  if (isResource) return false;
  return urls.some(
    (url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(withoutLast(url, '*'))),
  );
}

function matchesResource({ namespaces, resources }: PolicyRule, asked: Audited): boolean {
  if (!asked.isResource) return false;
  if (some(namespaces) && !namespaces.includes(asked.namespace)) return false;
  return !some(resources) || resources.some((of) => isOf(of, asked));
}

function isOf({ group = '', resources, resourceNames }: GroupResources, asked: Audited): boolean {
  if (group !== '*' && group !== asked.group) return false;
  if (!some(resources)) return true;
  if (some(resourceNames) && !resourceNames.includes(asked.name)) return false;
  const { resource, subresource } = asked;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === whole ||
      one === '*' ||
      (subresource !== '' && one === `*/${subresource}`) ||
      one === `${resource}/*`,
  );
}
