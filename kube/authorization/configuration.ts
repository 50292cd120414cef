import { DurationError, parseDuration } from '../duration.ts';
import { mismatches, type Shape } from '../shape.ts';
import type { StatusCause } from '../status.ts';
import { isRecord, record, records, text } from '../untyped.ts';
import { Field } from '../validation/field.ts';
import { decodeYaml } from '../yaml.ts';
import { checkAuthorizers, type FileProblem, type GivenAuthorizer } from './check.ts';
import type { AuthorizationConfiguration, AuthorizerConfiguration, WebhookConfiguration } from './types.ts';

const shape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  authorizers: [
    {
      type: 'string',
      name: 'string',
      webhook: {
        authorizedTTL: 'string',
        cacheAuthorizedRequests: 'boolean',
        unauthorizedTTL: 'string',
        cacheUnauthorizedRequests: 'boolean',
        timeout: 'string',
        subjectAccessReviewVersion: 'string',
        matchConditionSubjectAccessReviewVersion: 'string',
        failurePolicy: 'string',
        connectionInfo: { type: 'string', kubeConfigFile: 'string' },
        matchConditions: [{ expression: 'string' }],
      },
    },
  ],
};

const group = 'apiserver.config.k8s.io';
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
const defaults = { authorizedTTL: 300_000, unauthorizedTTL: 30_000 };
const notLoaded = 'failed to load AuthorizationConfiguration from file: ';

/**
 * From YAML or JSON. Throws Error, whose message says all that is wrong, in kube-apiserver's words. `before`: what a
 * server was started with, whose types but for webhooks must all be there.
 */
export function readConfiguration(
  source: string,
  fileProblem: FileProblem,
  before?: AuthorizationConfiguration,
): AuthorizationConfiguration {
  const given = source === '' ? [] : decoded(source);
  const causes: StatusCause[] = [];
  checkAuthorizers(given, new Field(causes, 'authorizers'), fileProblem);
  refuse(causes.map(({ field, message }) => `${field}: ${message}`));
  refuse([...misnamed(given), ...(before ? missing(given, before) : [])]);
  return { authorizers: given.map(complete) };
}

function decoded(source: string): GivenAuthorizer[] {
  const { value } = decodeYaml(source);
  const kind = isRecord(value) ? value['kind'] : undefined;
  if (!isRecord(value) || kind !== 'AuthorizationConfiguration')
    throw new Error(`${notLoaded}expected AuthorizationConfiguration`);
  const { apiVersion } = value;
  if (!versions.includes(String(apiVersion))) {
    const version = JSON.stringify(apiVersion ?? '');
    throw new Error(`${notLoaded}no kind "AuthorizationConfiguration" is registered for version ${version}`);
  }
  const problems = mismatches(value, shape);
  if (problems.length > 0) throw new Error(`${notLoaded}strict decoding error: ${problems.join(', ')}`);
  return records(value['authorizers']).map((one) => ({
    type: text(one['type']),
    name: text(one['name']),
    ...(isRecord(one['webhook']) && { webhook: webhookOf(one['webhook']) }),
  }));
}

function webhookOf(given: Record<string, unknown>): NonNullable<GivenAuthorizer['webhook']> {
  const connection = record(given['connectionInfo']);
  const file = connection['kubeConfigFile'];
  return {
    timeout: millis(given, 'timeout'),
    authorizedTTL: millis(given, 'authorizedTTL') || defaults.authorizedTTL,
    unauthorizedTTL: millis(given, 'unauthorizedTTL') || defaults.unauthorizedTTL,
    cacheAuthorizedRequests: given['cacheAuthorizedRequests'] !== false,
    cacheUnauthorizedRequests: given['cacheUnauthorizedRequests'] !== false,
    subjectAccessReviewVersion: text(given['subjectAccessReviewVersion']),
    matchConditionSubjectAccessReviewVersion: text(given['matchConditionSubjectAccessReviewVersion']),
    failurePolicy: text(given['failurePolicy']),
    connectionInfo: {
      type: text(connection['type']),
      kubeConfigFile: typeof file === 'string' ? file : null,
    },
    matchConditions: records(given['matchConditions']).map((one) => text(one['expression'])),
  };
}

function millis(given: Record<string, unknown>, field: string): number {
  const said = given[field];
  if (said === undefined) return 0;
  try {
    return parseDuration(text(said));
  } catch (error) {
    if (error instanceof DurationError) throw new Error(`${notLoaded}${error.message}`);
    throw error;
  }
}

/** What is one of a kind has its kind's name. */
function misnamed(given: readonly GivenAuthorizer[]): string[] {
  return given
    .filter(({ type, name }) => type !== 'Webhook' && name !== type.toLowerCase())
    .map(({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`);
}

/** What a server was started with goes on, and nothing else begins: those who rely on it would lose it by a slip. */
function missing(given: readonly GivenAuthorizer[], { authorizers }: AuthorizationConfiguration): string[] {
  const kinds = (of: readonly { type: string }[]) =>
    new Set(of.map(({ type }) => type).filter((type) => type !== 'Webhook'));
  const [now, then] = [kinds(given), kinds(authorizers)];
  const lost = [...then].filter((type) => !now.has(type)).sort();
  const begun = now.has('RBAC') && !then.has('RBAC');
  return [
    ...(lost.length > 0 ? [`missing required types: [${lost.join(' ')}]`] : []),
    ...(begun ? ['authorizer type RBAC is not allowed if it was not enabled at initial server startup'] : []),
  ];
}

function refuse(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`);
}

/** Of one that was checked. */
function complete({ type, name, webhook }: GivenAuthorizer): AuthorizerConfiguration {
  if (webhook === undefined) return { type, name } as AuthorizerConfiguration;
  const { timeout, connectionInfo, matchConditions } = webhook;
  const made = {
    timeoutMs: timeout,
    rememberMs: {
      allowed: webhook.cacheAuthorizedRequests ? webhook.authorizedTTL : 0,
      others: webhook.cacheUnauthorizedRequests ? webhook.unauthorizedTTL : 0,
    },
    subjectAccessReviewVersion: webhook.subjectAccessReviewVersion,
    failurePolicy: webhook.failurePolicy,
    kubeConfigFile: connectionInfo.kubeConfigFile,
    matchConditions,
  } as WebhookConfiguration;
  return { type: 'Webhook', name, webhook: made };
}
