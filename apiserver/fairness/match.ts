import { rootCluster } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import { standing } from '../authz/standing.ts';
import type { RequestInfo } from '../request.ts';
import type { Flow, ResourceRule, Rule, Subject } from './configuration.ts';

/** What of a request counts. */
export type Asked = Pick<
  RequestInfo,
  'isResource' | 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'path'
>;

/**
 * The first that matches: `flows` are in order, and the last of them takes whatever comes. They are root's, and name
 * those of root: whoever is somebody in another logical cluster alone, its ServiceAccount or one whom somebody
 * impersonates there, is matched as one of the many, whatever they are called.
 */
export class Classifier {
  readonly #flows: readonly Flow[];
  /** The rules that name them. Who is remembered by authentication is the same object again. */
  readonly #known = new WeakMap<UserInfo, readonly Naming[]>();

  constructor(flows: readonly Flow[]) {
    this.#flows = flows;
  }

  flowOf(user: UserInfo, asked: Asked): Flow {
    let naming = this.#known.get(user);
    if (naming === undefined) {
      naming = namingOf(this.#flows, user);
      this.#known.set(user, naming);
    }
    for (const { flow, rules } of naming) if (rules.some((rule) => covers(rule, asked))) return flow;
    return this.#flows.at(-1) as Flow;
  }
}

/** A flow, and those of its rules that are about somebody. */
interface Naming {
  readonly flow: Flow;
  readonly rules: readonly Rule[];
}

function namingOf(flows: readonly Flow[], user: UserInfo): readonly Naming[] {
  const who =
    standing(user, rootCluster) === 'nobody' ? { name: '', groups: user.groups.filter(isBroad) } : user;
  const isAbout = ({ subjects }: Rule) => subjects.some((subject) => isSubject(subject, who));
  const all = flows.map((flow) => ({ flow, rules: flow.rules.filter(isAbout) }));
  return all.filter(({ rules }) => rules.length > 0);
}

/** Groups that everybody of a kind is in. */
function isBroad(group: string): boolean {
  return ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts'].includes(group);
}

function covers(rule: Rule, asked: Asked): boolean {
  if (asked.isResource) return rule.resources.some((one) => isResource(one, asked));
  return rule.others.some(({ verbs, urls }) => has(verbs, asked.verb) && isUrl(urls, asked.path));
}

function isSubject({ kind, name, namespace }: Subject, user: Pick<UserInfo, 'name' | 'groups'>): boolean {
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
