import { judge } from '../cel/compile.ts';
import type { Checked } from '../cel/typed/check.ts';
import type { Declarations } from '../cel/typed/environment.ts';
import { children, type Expr } from '../cel/typed/expr.ts';
import { declaredType } from '../cel/typed/types.ts';
import type { Field } from '../validation/field.ts';
import { domainPrefixedPath } from '../validation/rules.ts';
import { claimsDeclarations, userDeclarations } from './expressions.ts';
import { checkIssuer } from './issuer.ts';
import type { AuthenticationConfiguration, JwtAuthenticator, Mapping } from './types.ts';

const mostIssuers = 64;

/** All that is wrong with it, in kube-apiserver's words. `issuers`: those that it may not name. */
export function checkConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  root: Field,
  issuers: readonly string[],
): void {
  const list = jwt ?? [];
  if (list.length > mostIssuers) {
    root.child('jwt').tooMany(list.length, mostIssuers);
    return;
  }
  const seen = { url: new Set<string>(), discoveryURL: new Set<string>() };
  for (const [index, one] of list.entries()) {
    const field = root.child('jwt').index(index);
    checkJwt(one, field, issuers);
    for (const name of ['url', 'discoveryURL'] as const) {
      const value = one.issuer?.[name] ?? '';
      if (seen[name].has(value) && (name === 'url' || value !== ''))
        field.child('issuer', name).duplicate(value);
      seen[name].add(value);
    }
  }
  const conditions = anonymous?.conditions ?? [];
  if (anonymous && !anonymous.enabled && conditions.length > 0) {
    const shown = conditions.map(({ path = '' }) => ({ Path: path }));
    root
      .child('anonymous', 'conditions')
      .invalid(shown, 'enabled should be set to true when conditions are defined');
  }
}

/** What the expressions say of a user's address. */
interface Named {
  email: boolean;
  verified: boolean;
}

function checkJwt(one: JwtAuthenticator, field: Field, issuers: readonly string[]): void {
  const named: Named = { email: false, verified: false };
  checkIssuer(one.issuer ?? {}, field.child('issuer'), issuers);
  checkClaimRules(one.claimValidationRules ?? [], field.child('claimValidationRules'), named);
  checkMappings(one.claimMappings ?? {}, field.child('claimMappings'), named);
  checkUserRules(one.userValidationRules ?? [], field.child('userValidationRules'));
}

function checkClaimRules(
  rules: NonNullable<JwtAuthenticator['claimValidationRules']>,
  field: Field,
  named: Named,
): void {
  const [claims, expressions] = [new Set<string>(), new Set<string>()];
  for (const [index, rule] of rules.entries()) {
    const path = field.index(index);
    const { claim = '', expression = '', message = '', requiredValue = '' } = rule;
    if (claim && expression) path.invalid(claim, "claim and expression can't both be set");
    else if (claim) {
      if (message) path.child('message').invalid(message, 'may not be specified when claim is set');
      if (claims.has(claim)) path.child('claim').duplicate(claim);
      claims.add(claim);
    } else if (expression) {
      if (requiredValue)
        path.child('requiredValue').invalid(requiredValue, 'may not be specified when expression is set');
      if (expressions.has(expression)) path.child('expression').duplicate(expression);
      else note(named, compiled(expression, claimsDeclarations, path.child('expression'), true), false);
      expressions.add(expression);
    } else path.required('claim or expression is required');
  }
}

function checkMappings(
  { username = {}, groups = {}, uid = {}, extra = [] }: Partial<JwtAuthenticator['claimMappings']>,
  field: Field,
  named: Named,
): void {
  note(named, checkMapping(username, field.child('username'), true), true);
  checkMapping(groups, field.child('groups'), false);
  if (uid.claim && uid.expression) field.child('uid').invalid('', "claim and expression can't both be set");
  else if (uid.expression) compiled(uid.expression, claimsDeclarations, field.child('uid', 'expression'));
  const keys = new Set<string>();
  for (const [index, { key = '', valueExpression = '' }] of extra.entries()) {
    const path = field.child('extra').index(index);
    checkKey(key, path.child('key'));
    if (keys.has(key)) {
      path.child('key').duplicate(key);
      continue;
    }
    keys.add(key);
    const at = path.child('valueExpression');
    if (valueExpression === '') at.required();
    else note(named, compiled(valueExpression, claimsDeclarations, at), false);
  }
  if (!named.email || named.verified) return;
  const usable = 'claimMappings.username.expression or claimMappings.extra[*].valueExpression or';
  field
    .child('username', 'expression')
    .invalid(
      username.expression,
      `claims.email_verified must be used in ${usable} claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression`,
    );
}

function checkMapping(
  { claim = '', prefix, expression = '' }: Mapping,
  field: Field,
  isRequired: boolean,
): Checked | undefined {
  if (claim && expression) field.invalid('', "claim and expression can't both be set");
  else if (expression) {
    if (typeof prefix === 'string')
      field.child('prefix').invalid(prefix, 'may not be specified when expression is set');
    return compiled(expression, claimsDeclarations, field.child('expression'));
  } else if (claim) {
    if (typeof prefix !== 'string') {
      field
        .child('prefix')
        .required(
          'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
        );
    }
  } else if (isRequired) field.required('claim or expression is required');
  return undefined;
}

/** Which logical cluster an account is of is said by its own token alone. */
const ownKey = 'authentication.kcp.io/cluster-name';

function checkKey(key: string, field: Field): void {
  if (key === '') field.required();
  else domainPrefixedPath(key, field);
  if (key !== key.toLowerCase()) field.invalid(key, 'must be lowercase');
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : '';
  if (/^(.*\.)?(k8s|kubernetes)\.io$/.test(domain)) {
    const rule = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use';
    field.invalid(key, rule);
  }
  if (key === ownKey) field.invalid(key, 'it is said of ServiceAccounts alone');
}

function checkUserRules(rules: NonNullable<JwtAuthenticator['userValidationRules']>, field: Field): void {
  const seen = new Set<string>();
  for (const [index, { expression = '' }] of rules.entries()) {
    const path = field.index(index).child('expression');
    if (expression === '') path.required();
    else if (seen.has(expression)) path.duplicate(expression);
    else compiled(expression, userDeclarations, path, true);
    seen.add(expression);
  }
}

function compiled(
  expression: string,
  declarations: Declarations,
  field: Field,
  isRule = false,
): Checked | undefined {
  const { problem, checked } = judge(expression, declarations);
  if (problem !== undefined) field.invalid(expression, `compilation failed: ${problem}`);
  if (!checked) return undefined;
  if (!isRule || declaredType(checked.type) === 'bool') return checked;
  field.invalid(expression, 'must evaluate to bool');
  return undefined;
}

function note(named: Named, checked: Checked | undefined, isUsername: boolean): void {
  if (checked === undefined) return;
  if (isUsername) named.email ||= selects(checked.expr, 'email');
  named.verified ||= selects(checked.expr, 'email_verified');
}

/** `claims.<field>` or `claims.?<field>` anywhere in it. */
function selects(expr: Expr, field: string): boolean {
  const isClaims = (one: Expr | undefined) => one?.op === 'ident' && one.name === 'claims';
  if (expr.op === 'select' && expr.field === field && isClaims(expr.operand)) return true;
  if (expr.op === 'call' && expr.name === '_?._') {
    const [operand, name] = expr.args;
    if (isClaims(operand) && name?.op === 'literal' && name.value === field) return true;
  }
  return children(expr).some((child) => selects(child, field));
}
