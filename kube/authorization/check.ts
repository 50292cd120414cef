import { isAbsolute } from 'node:path';
import { judge } from '../cel/compile.ts';
import { declaredType } from '../cel/typed/types.ts';
import { validateDns1123Subdomain } from '../names.ts';
import { formatDuration } from '../protobuf/time.ts';
import type { Field } from '../validation/field.ts';
import { requestDeclarations } from './expressions.ts';
import { authorizerTypes } from './types.ts';

/** As the file has it, with the defaults of what is not said. Times are in milliseconds. */
export interface GivenAuthorizer {
  type: string;
  name: string;
  webhook?: {
    timeout: number;
    authorizedTTL: number;
    unauthorizedTTL: number;
    cacheAuthorizedRequests: boolean;
    cacheUnauthorizedRequests: boolean;
    subjectAccessReviewVersion: string;
    matchConditionSubjectAccessReviewVersion: string;
    failurePolicy: string;
    connectionInfo: { type: string; kubeConfigFile: string | null };
    matchConditions: readonly string[];
  };
}

type Webhook = NonNullable<GivenAuthorizer['webhook']>;

/** What is wrong with a file by that name, if anything is. */
export type FileProblem = (file: string) => string | undefined;

const kubeTypes = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
const instead: Readonly<Record<string, string>> = {
  Node: 'no kubelet is a client of this server: leave it out',
  ABAC: 'say by RBAC, or by a webhook, what its policy file says',
};
const mostConditions = 64;
const longestTimeout = 30_000;

/** All that is wrong with them, in kube-apiserver's words where it minds, too. */
export function checkAuthorizers(
  authorizers: readonly GivenAuthorizer[],
  root: Field,
  fileProblem: FileProblem,
): void {
  if (authorizers.length === 0) root.required('at least one authorization mode must be defined');
  const [types, names] = [new Set<string>(), new Set<string>()];
  for (const [index, { type, name, webhook }] of authorizers.entries()) {
    const field = root.index(index);
    if (!checkType(type, types, field.child('type'))) continue;
    types.add(type);
    checkName(name, names, field.child('name'));
    names.add(name);
    if (type !== 'Webhook') {
      if (webhook) field.child('webhook').invalid('non-null', 'may only be specified when type=Webhook');
    } else if (!webhook) field.child('webhook').required('required when type=Webhook');
    else checkWebhook(webhook, field, fileProblem);
  }
}

function checkType(type: string, seen: ReadonlySet<string>, field: Field): boolean {
  const isKnown = authorizerTypes.some((known) => known === type);
  if (type === '') field.required();
  else if (!kubeTypes.includes(type)) field.notSupported(type, kubeTypes);
  else if (!isKnown) field.invalid(type, `it is not supported here; ${instead[type]}`);
  else if (seen.has(type) && type !== 'Webhook') field.duplicate(type);
  else return true;
  return false;
}

function checkName(name: string, seen: ReadonlySet<string>, field: Field): void {
  const wrong = name === '' ? [] : validateDns1123Subdomain(name);
  if (name === '') field.required();
  else if (seen.has(name)) field.duplicate(name);
  else if (wrong.length > 0) field.invalid(name, `authorizer name is invalid: ${wrong.join(', ')}`);
}

/** Of a webhook's fields kube-apiserver leaves `webhook` out of the path. */
function checkWebhook(webhook: Webhook, field: Field, fileProblem: FileProblem): void {
  const { timeout, matchConditions } = webhook;
  if (timeout === 0) field.child('timeout').required();
  else if (timeout > longestTimeout || timeout < 0)
    field.child('timeout').invalid(shown(timeout), 'must be > 0s and <= 30s');
  for (const name of ['authorizedTTL', 'unauthorizedTTL'] as const)
    if (webhook[name] < 0) field.child(name).invalid(shown(webhook[name]), 'must be > 0s');
  oneOf(webhook.subjectAccessReviewVersion, ['v1', 'v1beta1'], field.child('subjectAccessReviewVersion'));
  const of = field.child('matchConditionSubjectAccessReviewVersion');
  const version = webhook.matchConditionSubjectAccessReviewVersion;
  if (version !== '') oneOf(version, ['v1'], of);
  else if (matchConditions.length > 0) of.required('required if match conditions are specified');
  oneOf(webhook.failurePolicy, ['NoOpinion', 'Deny'], field.child('failurePolicy'));
  checkConnection(webhook.connectionInfo, field.child('connectionInfo'), fileProblem);
  checkConditions(matchConditions, field.child('matchConditions'));
}

function oneOf(value: string, known: readonly string[], field: Field): void {
  if (value === '') field.required();
  else if (!known.includes(value)) field.notSupported(value, known);
}

function checkConnection(
  { type, kubeConfigFile: file }: Webhook['connectionInfo'],
  field: Field,
  fileProblem: FileProblem,
): void {
  const [ofType, ofFile] = [field.child('type'), field.child('kubeConfigFile')];
  if (type === '') ofType.required();
  else if (type === 'InClusterConfig') {
    if (file !== null) ofFile.invalid(file, 'can only be set when type=KubeConfigFile');
    ofType.invalid(type, 'this server would ask itself; use KubeConfigFile');
  } else if (type !== 'KubeConfigFile') {
    ofType.notSupported({ Type: type, KubeConfigFile: file }, ['InClusterConfig', 'KubeConfigFile']);
  } else if (file === null || file === '') ofFile.required();
  else if (!isAbsolute(file)) ofFile.invalid(file, 'must be an absolute path');
  else {
    const problem = fileProblem(file);
    if (problem !== undefined) ofFile.invalid(file, problem);
  }
}

function checkConditions(conditions: readonly string[], field: Field): void {
  if (conditions.length > mostConditions) {
    field.tooMany(conditions.length, mostConditions);
    return;
  }
  const seen = new Set<string>();
  for (const [index, expression] of conditions.entries()) {
    const path = field.index(index).child('expression');
    if (expression.trim() === '') path.required();
    else if (seen.has(expression)) path.duplicate(expression);
    else checkCondition(expression, path);
    if (expression.trim() !== '') seen.add(expression);
  }
}

function checkCondition(expression: string, field: Field): void {
  const { problem, checked } = judge(expression, requestDeclarations);
  if (problem !== undefined) field.invalid(expression, `compilation failed: ${problem}`);
  if (!checked) return;
  const type = declaredType(checked.type);
  if (type !== 'bool') field.invalid(expression, `must evaluate to bool but got ${type}`);
}

function shown(millis: number): string {
  return formatDuration(Math.round(millis * 1e6));
}
