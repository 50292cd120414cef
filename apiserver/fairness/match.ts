import type { UserInfo } from '../../kube/http.ts';
import type { RequestInfo } from '../request.ts';
import type { Flow, ResourceRule, Rule, Subject } from './configuration.ts';

/** What of a request counts. */
export type Asked = Pick<
  RequestInfo,
  'isResource' | 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'path'
>;

/** The first that matches: `flows` are in order, and the last of them takes whatever comes. */
export function classify(flows: readonly Flow[], user: UserInfo, asked: Asked): Flow {
  for (const flow of flows) if (flow.rules.some((rule) => matches(rule, user, asked))) return flow;
  return flows.at(-1) as Flow;
}

function matches(rule: Rule, user: UserInfo, asked: Asked): boolean {
  if (!rule.subjects.some((subject) => isSubject(subject, user))) return false;
  if (asked.isResource) return rule.resources.some((one) => isResource(one, asked));
  return rule.others.some(({ verbs, urls }) => has(verbs, asked.verb) && isUrl(urls, asked.path));
}

function isSubject({ kind, name, namespace }: Subject, user: UserInfo): boolean {
  if (kind === 'User') return name === '*' || name === user.name;
  if (kind === 'Group') return name === '*' || user.groups.includes(name);
  const prefix = `system:serviceaccount:${namespace}:`;
  return name === '*' ? user.name.startsWith(prefix) : user.name === prefix + name;
}

function isResource(rule: ResourceRule, asked: Asked): boolean {
  const { resource, subresource, namespace } = asked;
  if (!has(rule.verbs, asked.verb)) return false;
  if (!has(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)) return false;
  if (!has(rule.groups, asked.group)) return false;
  return namespace === '' ? rule.clusterScope : has(rule.namespaces, namespace);
}

/** As kube-apiserver compares: `/healthz` stands for all that is below it, too. */
function isUrl(urls: readonly string[], path: string): boolean {
  return urls.some((url) => {
    if (url === '*' || url === path) return true;
    const prefix = url.endsWith('*') ? url.slice(0, -1) : url;
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}

function has(list: readonly string[], word: string): boolean {
  return (list.length === 1 && list[0] === '*') || list.includes(word);
}
