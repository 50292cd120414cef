import { selectorsInQuery } from '../../kube/authorization/review.ts';
import type { UserInfo } from '../../kube/http.ts';
import { andThen, type Later } from '../../kube/later.ts';
import { StatusError } from '../../kube/status.ts';
import type { Attributes, Authorizer, Decision } from '../plugins.ts';
import type { RequestInfo } from '../request.ts';

const selecting = new Set(['list', 'watch', 'deletecollection']);

export function attributesOf(info: RequestInfo, user: UserInfo): Attributes {
  const { cluster, verb, group, version, resource, subresource, namespace, path, query } = info;
  const name = info.selected ?? info.name;
  const what = { user, cluster, verb, group, version, resource, subresource, namespace, name };
  if (!info.isResource) return { ...what, path };
  // Whoever decides whether somebody may list for somebody else is told of which, too: impersonate-on:MODE:list.
  if (!selecting.has(verb.slice(verb.lastIndexOf(':') + 1)) || query.size === 0) return what;
  return { ...what, selectors: () => selectorsInQuery(query) };
}

/** Throws, or rejects with, StatusError 403 with kube-apiserver's words, 500 where nobody could decide. Waits only where the authorizer does. */
export function authorizeRequest(
  authorize: Authorizer,
  info: RequestInfo,
  user: UserInfo,
  /** Told what was decided. */
  audit?: { decided(decision: Decision): void },
): Later<void> {
  return andThen(authorize(attributesOf(info, user)), (decision) => {
    audit?.decided(decision);
    insist(decision, info, user);
  });
}

function insist(decision: Decision, info: RequestInfo, user: UserInfo): void {
  if (decision.allowed) return;
  // Whom somebody may be taken for is refused like that, too.
  if (decision.error !== undefined && !info.verb.startsWith('impersonate'))
    throw new StatusError(500, 'InternalError', `Internal error occurred: ${decision.error}`);
  const why = decision.reason ? `: ${decision.reason}` : '';
  const { group, resource } = info;
  const name = info.selected ?? info.name;
  const details = { ...(name && { name }), ...(group && { group }), ...(resource && { kind: resource }) };
  const what = group || resource ? `${subject(info)} is forbidden` : 'forbidden';
  throw new StatusError(403, 'Forbidden', `${what}: ${complaint(info, user)}${why}`, details);
}

function subject({ group, resource, ...info }: RequestInfo): string {
  const name = info.selected ?? info.name;
  const kind = group === '' ? resource : `${resource}.${group}`;
  return name === '' ? kind : `${kind} ${JSON.stringify(name)}`;
}

function complaint(info: RequestInfo, user: UserInfo): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${info.verb}`;
  if (!info.isResource) return `${who} path ${JSON.stringify(info.path)}`;
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  const what = `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)}`;
  return info.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${JSON.stringify(info.namespace)}`;
}
