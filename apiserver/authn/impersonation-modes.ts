import type { UserInfo } from '../../kube/http.ts';
import type { StatusCause } from '../../kube/status.ts';
import { Field } from '../../kube/validation/field.ts';
import { domainPrefixedPath } from '../../kube/validation/rules.ts';
import { mastersGroup } from '../authz/masters.ts';
import { accountOf, isName, nodeOf, nodeUnder, type Wanted } from './wanted.ts';

/**
 * A way of being allowed to be taken for somebody: `constrained` ones also ask whether that may be for what the request
 * does. https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/#constrained-impersonation
 */
export type Mode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';

/** Something to ask of who wants that; with `refused` it is refused whatever the answer. */
export interface Question {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name: string;
  refused?: string;
  /** With a yes so many of those that follow need not be asked; a no refuses nothing. */
  spares?: number;
}

const authentication = 'authentication.k8s.io';

/** In the order in which they are tried; the first that allows counts. */
export function modesFor(wanted: Wanted, requester: UserInfo): Mode[] {
  const node = nodeOf(wanted.name);
  const account = accountOf(wanted.name);
  const modes: Mode[] = [];
  if (node !== undefined && isName(wanted)) {
    if (nodeUnder(requester) === node) modes.push('associated-node');
    modes.push('arbitrary-node');
  }
  if (account !== undefined && isName(wanted)) modes.push('serviceaccount');
  if (node === undefined && account === undefined) modes.push('user-info');
  return [...modes, 'legacy'];
}

/** The groups that come with the name, where none is named. */
export function ownGroups(mode: Mode, wanted: Wanted): readonly string[] {
  if (wanted.groups.length > 0) return wanted.groups;
  const account = accountOf(wanted.name);
  if (account) return ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  return mode !== 'legacy' && nodeOf(wanted.name) !== undefined ? ['system:nodes'] : [];
}

/** From so many on it is asked first whether it may be any. */
const many = 4;

/** All of them have to be answered yes, in this order, but for those that may spare others. */
export function* questionsOf(mode: Mode, wanted: Wanted): Generator<Question> {
  const constrained = mode !== 'legacy';
  const verb = constrained ? `impersonate:${mode}` : 'impersonate';
  const group = constrained ? authentication : '';
  yield { verb, group, ...subjectOf(mode, wanted.name) };
  if (wanted.uid !== '') yield { verb, group: authentication, resource: 'uids', name: wanted.uid };
  if (constrained) yield* refusalsOf(verb, wanted);
  const groups = wanted.groups.map((name) => ({ verb, group, resource: 'groups', name }));
  // Who may be of any group may not be of one that is reserved: of those each is asked for.
  if (constrained && groups.length >= many && !wanted.groups.some(isReserved))
    yield { verb, group, resource: 'groups', name: '*', spares: groups.length };
  yield* groups;
  const of = { verb, group: authentication, resource: 'userextras' };
  const extras = Object.entries(wanted.extra).flatMap(([subresource, values]) =>
    values.map((name) => ({ ...of, subresource, name })),
  );
  if (constrained && extras.length >= many)
    yield { ...of, subresource: '*', name: '*', spares: extras.length };
  yield* extras;
}

/** Nobody but `system:masters` is taken for these. */
export function isReserved(name: string): boolean {
  return name === mastersGroup || name.startsWith('system:atoll:');
}

function subjectOf(mode: Mode, name: string): Pick<Question, 'resource' | 'namespace' | 'name'> {
  const account = accountOf(name);
  if (account) return { resource: 'serviceaccounts', ...account };
  const node = mode === 'legacy' ? undefined : nodeOf(name);
  if (node === undefined) return { resource: 'users', name };
  return { resource: 'nodes', name: mode === 'associated-node' ? '*' : node };
}

/** What nobody is taken for who may be so for some requests only. */
function* refusalsOf(verb: string, { groups, extra }: Wanted): Generator<Question> {
  const of = { verb, group: authentication, resource: 'groups', name: '' };
  if (groups.includes('')) yield { ...of, refused: 'impersonating the empty string group is not allowed' };
  if (groups.includes(mastersGroup))
    yield { ...of, name: mastersGroup, refused: 'impersonating the system:masters group is not allowed' };
  for (const [key, values] of Object.entries(extra)) {
    const refused = whyNoExtra(key, values);
    if (refused !== undefined) yield { ...of, resource: 'userextras', refused };
  }
}

function whyNoExtra(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const causes: StatusCause[] = [];
  domainPrefixedPath(key, new Field(causes, 'extra').child('key'));
  const [first] = causes;
  if (first) {
    const why = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
    return `impersonating an invalid key in extra is not allowed: ${causes.length > 1 ? `[${why}]` : why}`;
  }
  if (key !== key.toLowerCase())
    return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
  if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  return undefined;
}
