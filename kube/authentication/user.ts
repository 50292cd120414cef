import { Budget, compileTokenRule, perRequest } from '../cel/rule.ts';
import { escapeName } from '../cel/value.ts';
import type { UserInfo } from '../http.ts';
import { getOwn, isRecord } from '../untyped.ts';
import type { JwtAuthenticator } from './types.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A token that proves nobody. The message is for the log: it names claims and rules, never the token. */
export class TokenError extends Error {}

const credentialId = 'authentication.kubernetes.io/credential-id';
/** Where alone somebody is one; what it is mapped to must be something, or it would be everywhere. */
const scopes = 'authentication.kcp.io/scopes';

/** Whom verified claims name, by the mappings and rules. Throws TokenError. */
export function userFrom(claims: Claims, jwt: JwtAuthenticator): UserInfo {
  const budget = new Budget(perRequest);
  const values = toCel(claims);
  const evaluate = (expression: string, what: string) =>
    run('claims', expression, values, budget, `${what} expression`);
  const { username, groups, uid, extra = [] } = jwt.claimMappings;
  const name = username.expression
    ? stringOf(evaluate(username.expression, 'username claim'), 'username claim')
    : `${username.prefix ?? ''}${usernameClaim(claims, username.claim ?? '')}`;
  if (name === '') throw new TokenError('empty username is not allowed');
  const own = groups?.expression
    ? stringsOf(evaluate(groups.expression, 'group claim'), groups.expression)
    : groupsClaim(claims, groups?.claim ?? '').map((group) => `${groups?.prefix ?? ''}${group}`);
  const id = uid?.expression
    ? stringOf(evaluate(uid.expression, 'uid claim'), 'uid claim')
    : uid?.claim
      ? stringClaim(claims, uid.claim)
      : '';
  const said: [string, string[]][] =
    typeof claims['jti'] === 'string' ? [[credentialId, [`JTI=${claims['jti']}`]]] : [];
  for (const { key, valueExpression } of extra) {
    const found = stringsOf(evaluate(valueExpression, 'extra claim'), valueExpression);
    if (found.length > 0) said.push([key, found]);
    else if (key === scopes) throw new TokenError(`${scopes} of nothing`);
  }
  const user: UserInfo = {
    name,
    ...(id !== '' && { uid: id }),
    groups: own,
    ...(said.length > 0 && { extra: Object.fromEntries(said) }),
  };
  checkClaims(claims, values, jwt, budget);
  checkUser(user, jwt, budget);
  return user;
}

function checkClaims(claims: Claims, values: unknown, jwt: JwtAuthenticator, budget: Budget): void {
  for (const { claim, requiredValue = '', expression, message } of jwt.claimValidationRules ?? []) {
    if (claim && stringClaim(claims, claim) !== requiredValue)
      throw new TokenError(`required claim ${claim} value does not match`);
    if (expression) insist('claims', expression, values, budget, message);
  }
}

/** The system's names are given by nobody else's tokens, whatever the mappings say. */
function checkUser(
  { name, uid = '', groups, extra = {} }: UserInfo,
  jwt: JwtAuthenticator,
  budget: Budget,
): void {
  const reserved = [name, ...groups].find((one) => one.startsWith('system:'));
  if (reserved !== undefined) throw new TokenError(`${JSON.stringify(reserved)} is the system's`);
  const values = toCel({ username: name, uid, groups, extra });
  for (const { expression, message } of jwt.userValidationRules ?? [])
    insist('user', expression, values, budget, message);
}

function insist(
  of: 'claims' | 'user',
  expression: string,
  value: unknown,
  budget: Budget,
  message = '',
): void {
  if (run(of, expression, value, budget, 'validation expression') !== true)
    throw new TokenError(`validation expression '${expression}' failed: ${message}`);
}

function run(
  of: 'claims' | 'user',
  expression: string,
  value: unknown,
  budget: Budget,
  what: string,
): unknown {
  const rule = compileTokenRule(of, expression);
  try {
    if (rule instanceof Error) throw rule;
    return budget.within((share) => rule(value, share));
  } catch (error) {
    throw new TokenError(`error evaluating ${what}: ${(error as Error).message}`);
  }
}

/** Decoded JSON as CEL's values: numbers are doubles. A name that no expression can say is found by its escaped one, too. */
function toCel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCel);
  if (!isRecord(value)) return value;
  const made: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const own = toCel(item);
    Object.defineProperty(made, name, { value: own, enumerable: true });
    const escaped = escapeName(name);
    if (escaped !== name && !Object.hasOwn(value, escaped))
      Object.defineProperty(made, escaped, { value: own });
  }
  return made;
}

function usernameClaim(claims: Claims, name: string): string {
  const verified = getOwn(claims, 'email_verified');
  if (name === 'email' && verified !== undefined && verified !== true)
    throw new TokenError('email not verified');
  return stringClaim(claims, name);
}

function stringClaim(claims: Claims, name: string): string {
  const value = getOwn(claims, name);
  if (value === undefined) throw new TokenError(`claim ${JSON.stringify(name)} not present`);
  if (typeof value !== 'string') throw new TokenError(`claim ${JSON.stringify(name)} is no string`);
  return value;
}

/** One string is a list of one. Those that the issuer keeps elsewhere are not fetched: it is not that there are none. */
function groupsClaim(claims: Claims, name: string): string[] {
  if (name === '') return [];
  const value = getOwn(claims, name);
  const elsewhere = getOwn(claims, '_claim_names');
  if (value === undefined && isRecord(elsewhere) && Object.hasOwn(elsewhere, name))
    throw new TokenError(`the claim ${JSON.stringify(name)} is a distributed one, which is not read`);
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new TokenError(`parse groups claim ${JSON.stringify(name)}: neither a string nor a list of them`);
}

function stringOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new TokenError(`${what} expression must return a string`);
  return value;
}

/** Empty strings are left out. */
function stringsOf(value: unknown, expression: string): string[] {
  if (value === null) return [];
  const list = typeof value === 'string' ? [value] : value;
  if (Array.isArray(list) && list.every((one) => typeof one === 'string'))
    return list.filter((one) => one !== '');
  throw new TokenError(`${expression}: expression must return a string or a list of strings`);
}
