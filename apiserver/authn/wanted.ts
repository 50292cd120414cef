import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { validateDns1123Label, validateDns1123Subdomain } from '../../kube/names.ts';
import { quoteGo } from '../../kube/quote.ts';
import { badRequest } from '../../kube/status.ts';
import { allHeaderValues } from './header-values.ts';

const userHeader = 'impersonate-user';
const groupHeader = 'impersonate-group';
const uidHeader = 'impersonate-uid';
const extraPrefix = 'impersonate-extra-';
const accountPrefix = 'system:serviceaccount:';
const nodePrefix = 'system:node:';

/** Whom a request asks to be taken for, as its headers say it. */
export interface Wanted {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

/** True for a request that asks to be taken for somebody else's. */
export function impersonates({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/** undefined: headers that say nothing ask for nothing. Throws StatusError 400. */
export function wantedBy(request: ApiRequest): Wanted | undefined {
  const [name = ''] = allHeaderValues(request, userHeader);
  const [uid = ''] = allHeaderValues(request, uidHeader);
  const wanted = { name, uid, groups: allHeaderValues(request, groupHeader), extra: extraOf(request) };
  if (name !== '') return wanted;
  if (isName(wanted)) return undefined;
  throw badRequest(`requested ${goUser(wanted)} without impersonating a user name`);
}

/** Nothing is said but the name. */
export function isName({ uid, groups, extra }: Wanted): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

export function accountOf(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name = '', more] = user.slice(accountPrefix.length).split(':');
  const isOne = validateDns1123Label(namespace).length === 0 && validateDns1123Subdomain(name).length === 0;
  return isOne && more === undefined ? { namespace, name } : undefined;
}

export function nodeOf(user: string): string | undefined {
  const name = user.startsWith(nodePrefix) ? user.slice(nodePrefix.length) : '';
  return validateDns1123Subdomain(name).length === 0 ? name : undefined;
}

/** On which node the pod runs that a ServiceAccount's token is of. */
export function nodeUnder({ name, extra }: UserInfo): string | undefined {
  const told = extra?.['authentication.kubernetes.io/node-name'];
  return accountOf(name) && told?.length === 1 ? told[0] : undefined;
}

/** A key may be written in several ways: its values are those of all of them. */
function extraOf(request: ApiRequest): Record<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of Object.keys(request.headers)) {
    if (!name.startsWith(extraPrefix)) continue;
    const key = decodeName(name.slice(extraPrefix.length));
    found.set(key, [...(found.get(key) ?? []), ...allHeaderValues(request, name)]);
  }
  return Object.fromEntries(found);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As Go's %#v has it. */
function goUser({ name, uid, groups, extra }: Wanted): string {
  const list = (values: readonly string[]) => `{${values.map(quoteGo).join(', ')}}`;
  const keys = Object.keys(extra).sort();
  const pairs = keys.map((key) => `${quoteGo(key)}:[]string${list(extra[key] ?? [])}`);
  const said = [
    `Name:${quoteGo(name)}`,
    `UID:${quoteGo(uid)}`,
    `Groups:[]string${groups.length > 0 ? list(groups) : '(nil)'}`,
    `Extra:map[string][]string${keys.length > 0 ? `{${pairs.join(', ')}}` : '(nil)'}`,
  ];
  return `&user.DefaultInfo{${said.join(', ')}}`;
}
