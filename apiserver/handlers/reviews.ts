import { selectorsInReview, unreadInReview } from '../../kube/authorization/review.ts';
import type { ApiResponse, UserInfo } from '../../kube/http.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { badRequest, invalid, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { isRecord, listAt, record, strings, text } from '../../kube/untyped.ts';
import { accessReviewProblems } from '../../kube/validation/review.ts';
import { apiAudiences, defaultIssuer } from '../authn/issuer.ts';
import { withKnown } from '../authn/known.ts';
import { clusterNameExtra, type Identified } from '../authn/service-account.ts';
import type { ResourceExchange } from '../core.ts';
import { writeQuery } from '../decode/options.ts';
import { formOf, respondAnswer } from '../encode/respond.ts';
import type { Attributes } from '../plugins.ts';
import { withManagers } from '../registry/managers.ts';
import { checkNamespace, decodeRequest } from './writes/request.ts';

/** Questions in the form of objects: created, answered, never stored. https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
type Answer = (exchange: ResourceExchange, object: KubeObject) => unknown | Promise<unknown>;

const answers: Readonly<Record<string, Answer>> = {
  selfsubjectreviews: ({ user }) => ({ userInfo: userInfo(user) }),
  selfsubjectaccessreviews: (exchange, object) => access(exchange, object, exchange.user),
  subjectaccessreviews: (exchange, object) =>
    access(exchange, object, subjectOf(exchange.info.cluster, object)),
  localsubjectaccessreviews: (exchange, object) =>
    access(exchange, object, subjectOf(exchange.info.cluster, object)),
  selfsubjectrulesreviews: rules,
  tokenreviews: tokenReview,
};

export function isReview(exchange: ResourceExchange): boolean {
  const { group, resource } = exchange.served.info;
  return /^(authentication|authorization)\.k8s\.io$/.test(group) && Object.hasOwn(answers, resource);
}

export async function handleReview(exchange: ResourceExchange): Promise<ApiResponse> {
  const query = writeQuery(exchange, 'CreateOptions');
  const form = formOf(exchange);
  const object = decodeRequest(exchange, query);
  checkNamespace(exchange, object);
  const { resource, namespaced } = exchange.served.info;
  if (namespaced) object.metadata.namespace = exchange.info.namespace;
  for (const field of ofTheSystem) delete (object.metadata as Record<string, unknown>)[field];
  const { spec } = object;
  // None, as Go has it.
  if (isRecord(spec) && listAt(spec, 'audiences').length === 0) delete spec['audiences'];
  const { core, info, served } = exchange;
  const writing = { registry: core.registry, served, cluster: info.cluster };
  const asked = withManagers(undefined, object, writing, { manager: query.manager });
  const answer = answers[resource];
  check(exchange, asked);
  const status = await answer?.(exchange, asked);
  const about = anew[resource];
  if (about === undefined) return respondAnswer(exchange, form, { ...asked, status });
  const { kind, apiVersion } = asked;
  return respondAnswer(exchange, form, { kind, apiVersion, ...about(), status } as KubeObject);
}

/** What no client can say of a new object. */
const ofTheSystem = [
  'uid',
  'selfLink',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** Of what was sent, nothing comes back. */
const anew: Readonly<Record<string, () => object>> = {
  selfsubjectreviews: () => ({ metadata: { creationTimestamp: timestamp(new Date()) } }),
  selfsubjectrulesreviews: () => ({ metadata: {}, spec: {} }),
};

/** Who a token is for in this logical cluster, as this server's own authenticators say. */
async function tokenReview(exchange: ResourceExchange, object: KubeObject) {
  const { token = '', audiences } = (object.spec ?? {}) as { token?: string; audiences?: string[] };
  const found = await identified(exchange, token, audiences?.length ? audiences : [defaultIssuer]);
  if (found === undefined) {
    const { authenticated: _authenticated, ...given } = record(object.status);
    return { user: {}, ...given, error: 'invalid bearer token' };
  }
  return { authenticated: true, user: userInfo(found.user), audiences: found.audiences };
}

/** What is no ServiceAccount's is for this server alone. */
async function identified(
  { core, request, info: { cluster } }: ResourceExchange,
  token: string,
  asked: string[],
): Promise<Identified | undefined> {
  const { tokens, registry, authenticators } = core;
  const found = await tokens?.identify(token, cluster, registry, new Date(), asked);
  if (found !== undefined) return found;
  const own = apiAudiences(tokens?.base ?? defaultIssuer, cluster);
  const audiences = asked.filter((one) => own.includes(one));
  if (audiences.length === 0) return undefined;
  const bearer = { ...request, headers: { authorization: `Bearer ${token}` } };
  for (const authenticator of authenticators) {
    const user = await authenticator(bearer, {}, cluster);
    if (user !== undefined) return { user: withKnown(user), audiences };
  }
  return undefined;
}

function check({ served, info }: ResourceExchange, object: KubeObject): void {
  const { group, kind } = served.info;
  const spec = (object.spec ?? {}) as { token?: string; namespace?: string };
  if (kind === 'TokenReview' && !spec.token) {
    throw badRequest('token is required for TokenReview in authentication');
  }
  if (kind === 'SelfSubjectRulesReview' && !spec.namespace) throw badRequest('no namespace on request');
  if (!kind.endsWith('SubjectAccessReview')) return;
  const causes = accessReviewProblems(kind, object as unknown as JsonObject, info.namespace);
  if (causes.length === 0) return;
  // kube-apiserver does not name the kind here.
  const { code, reason, message } = invalid(group, '', '', causes);
  throw new StatusError(code, reason, message, { group, causes });
}

function userInfo(user: UserInfo) {
  return {
    username: user.name,
    ...(user.uid && { uid: user.uid }),
    groups: user.groups,
    ...(user.extra && { extra: user.extra }),
  };
}

/** A ServiceAccount that is asked about is the logical cluster's own. */
function subjectOf(cluster: string, object: KubeObject): UserInfo {
  const spec = record(object.spec);
  const name = text(spec['user']);
  const uid = text(spec['uid']);
  const said = Object.entries(record(spec['extra'])).map(([key, values]) => [key, strings(values)] as const);
  const own = name.startsWith('system:serviceaccount:') ? { [clusterNameExtra]: [cluster] } : {};
  const extra: Record<string, readonly string[]> = { ...Object.fromEntries(said), ...own };
  return {
    name,
    groups: strings(spec['groups']),
    ...(uid !== '' && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

async function access(exchange: ResourceExchange, object: KubeObject, user: UserInfo) {
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  const decision = await exchange.core.authorize(attributes(exchange, spec, user));
  const { allowed, denied, reason, error } = decision;
  const asked = spec['resourceAttributes'];
  const problems = [error, isRecord(asked) ? unreadInReview(asked) : undefined].filter(Boolean);
  return {
    allowed,
    ...(denied && { denied }),
    ...(reason && { reason }),
    ...(problems.length > 0 && { evaluationError: problems.join('; ') }),
  };
}

function attributes(exchange: ResourceExchange, spec: Record<string, unknown>, user: UserInfo): Attributes {
  const asked = isRecord(spec['resourceAttributes']) ? spec['resourceAttributes'] : undefined;
  const raw = isRecord(spec['nonResourceAttributes']) ? spec['nonResourceAttributes'] : {};
  const word = (of: Record<string, unknown>, field: string) =>
    typeof of[field] === 'string' ? (of[field] as string) : '';
  const base = { user, cluster: exchange.info.cluster };
  if (asked === undefined) {
    const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
    return { ...base, ...none, verb: word(raw, 'verb'), path: word(raw, 'path') };
  }
  return {
    ...base,
    verb: word(asked, 'verb'),
    group: word(asked, 'group'),
    version: word(asked, 'version') || '*',
    resource: word(asked, 'resource'),
    subresource: word(asked, 'subresource'),
    namespace: word(asked, 'namespace') || exchange.info.namespace,
    name: word(asked, 'name'),
    selectors: () => selectorsInReview(asked),
  };
}

/** Whoever may do everything needs no role for it. */
function rules({ core, info, user }: ResourceExchange, object: KubeObject) {
  const { namespace = '' } = (object.spec ?? {}) as { namespace?: string };
  const { rules, incomplete = false, error } = core.rulesFor(info.cluster, user, namespace);
  const given = (list: readonly string[], name: string) => list.length > 0 && { [name]: list };
  const ofResources = rules.filter(({ resources }) => resources.length > 0);
  const ofPaths = rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0);
  return {
    resourceRules: ofResources.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      ...given(apiGroups, 'apiGroups'),
      resources,
      ...given(resourceNames, 'resourceNames'),
    })),
    nonResourceRules: ofPaths.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete,
    ...(error !== undefined && { evaluationError: error }),
  };
}
