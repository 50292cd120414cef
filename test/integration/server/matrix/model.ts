import { bootstrapObjects } from '../../../../kube/rbac/bootstrap.ts';

/*
 * Who may do what, said once more in few words and by nothing that the server decides with: from docs/reference/access.md and
 * Kubernetes' published roles. What the server answers is compared with it.
 */

/** The logical clusters of the matrix: `none` is not there, `*` are all. */
export type Cluster = 'root' | 'a' | 'b' | 'none' | '*';

export interface Rule {
  verbs: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  nonResourceURLs?: readonly string[];
}

/** Rules of somebody in a logical cluster; `namespace`: in that one alone. */
export interface Grant {
  namespace?: string;
  rules: readonly Rule[];
}

/**
 * What somebody's credentials come to in a logical cluster. wrong: nobody believes them; impostor: they say to be whom they may
 * not; stranger: somebody of elsewhere; guest: somebody without a home; home: one of it.
 */
export type Standing = 'wrong' | 'impostor' | 'stranger' | 'guest' | 'home' | 'master';

export interface Person {
  standing(cluster: Cluster): Standing;
  grants?: Partial<Record<Cluster, readonly Grant[]>>;
  /** Of ServiceAccounts. */
  isAccount?: boolean;
  /** Whose logical cluster a path without /clusters/ leads to, if not to root. */
  home?: 'a' | 'b';
  /** Whose view below /syncers/ they have. */
  syncer?: string;
  /** Shows nothing at all. */
  isAnonymous?: boolean;
}

export interface Asked {
  cluster: Cluster;
  /** The path has no /clusters/ before it; it has, with an id. */
  plain: boolean;
  byId: boolean;
  verb: string;
  /** May become a connection. */
  connects: boolean;
  /** Of what is no resource. */
  path?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

export type Verdict = 'yes' | 401 | 403;

const open = [
  '/healthz',
  '/livez',
  '/readyz',
  '/version',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
];
const keys = open.slice(4);
const views = [
  '/backup',
  '/client-certificates',
  '/service-account-keys',
  '/plan',
  '/debug/pprof/profile',
  '/debug/pprof/heap',
];

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings */
const everybody: readonly Rule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: [
      '/api',
      '/api/*',
      '/apis',
      '/apis/*',
      '/openapi',
      '/openapi/*',
      '/healthz',
      '/livez',
      '/readyz',
      '/version',
      '/version/',
    ],
  },
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];
const accounts: readonly Rule[] = [{ verbs: ['get'], nonResourceURLs: keys }];

/** Of a ClusterRole that Kubernetes publishes. */
export function published(name: string): readonly Rule[] {
  const found = bootstrapObjects('clusterroles').find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no role ${name}`);
  return found['rules'] as unknown as readonly Rule[];
}

export function verdict(person: Person, asked: Asked): Verdict {
  const { cluster, verb, path = '' } = asked;
  if (person.isAnonymous) return isForNobody(asked) ? 'yes' : 401;
  const standing = person.standing(cluster);
  if (standing === 'wrong') return 401;
  if (standing === 'impostor') return 403;
  const view = asked.plain ? viewOf(path) : undefined;
  if (view !== undefined) return standing === 'master' || view === person.syncer ? 'yes' : 403;
  if (verb === 'get' && cluster === 'root' && open.includes(path)) return 'yes';
  if (asked.resource === 'placements' && !['get', 'list', 'watch'].includes(verb)) return 403;
  if (standing === 'master') return 'yes';
  if (standing === 'stranger' || cluster === '*') return 403;
  const given = person.grants?.[cluster] ?? [];
  if (standing === 'guest' && cluster !== 'root' && given.length === 0) return 403;
  const all: Grant[] = [...given, { rules: everybody }, ...(person.isAccount ? [{ rules: accounts }] : [])];
  const needed = opensConnection(asked) ? [verb, 'create'] : [verb];
  return needed.every((one) => all.some((grant) => grants(grant, { ...asked, verb: one }))) ? 'yes' : 403;
}

/** Whatever method opens it: `get` alone does not. */
function opensConnection({ connects, resource, subresource = '' }: Asked): boolean {
  return connects && resource === 'pods' && ['exec', 'attach', 'portforward'].includes(subresource);
}

function isForNobody({ verb, path = '', plain, byId }: Asked): boolean {
  if (verb !== 'get') return false;
  return plain ? open.includes(path) : byId && keys.includes(path);
}

function viewOf(path: string): string | undefined {
  if (views.includes(path)) return '';
  return /^\/syncers\/([^/]+)\//.exec(path)?.[1];
}

function grants({ namespace, rules }: Grant, asked: Asked): boolean {
  if (namespace !== undefined && (asked.path !== undefined || asked.namespace !== namespace)) return false;
  return rules.some((rule) => allows(rule, asked));
}

function allows(rule: Rule, { verb, path, group = '', resource = '', subresource = '', name = '' }: Asked) {
  const has = (list: readonly string[] = [], one: string) =>
    list.some((each) => each === '*' || each === one);
  if (!has(rule.verbs, verb)) return false;
  if (path !== undefined) {
    return (rule.nonResourceURLs ?? []).some((url) =>
      url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path,
    );
  }
  const meant = subresource === '' ? resource : `${resource}/${subresource}`;
  const named = rule.resourceNames ?? [];
  // What pods use may be read by whoever may read them.
  const groups = isUse({ verb, group, resource }) ? [group, ''] : [group];
  if (!groups.some((one) => has(rule.apiGroups, one)) || (named.length > 0 && !named.includes(name)))
    return false;
  return has(rule.resources, meant) || (subresource !== '' && has(rule.resources, `*/${subresource}`));
}

function isUse({ verb, group, resource }: Pick<Asked, 'verb' | 'group' | 'resource'>): boolean {
  return group === 'metrics.k8s.io' && resource === 'pods' && ['get', 'list'].includes(verb);
}
