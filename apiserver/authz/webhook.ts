import { setTimeout } from 'node:timers/promises';
import { meetsConditions } from '../../kube/authorization/expressions.ts';
import {
  type AccessSpec,
  type AccessStatus,
  statusIn,
  subjectAccessReview,
} from '../../kube/authorization/review.ts';
import type { WebhookConfiguration } from '../../kube/authorization/types.ts';
import type { ApiResponse, Transport } from '../../kube/http.ts';
import type { Attributes, AuthorizationMode, Decision } from '../plugins.ts';
import { Answers } from './answers.ts';

/** Where a review says which logical cluster it is about, by its id. kcp's name. */
const clusterExtra = 'authorization.kubernetes.io/cluster-name';

/** Between tries of what says that it will pass, as kube-apiserver: five in all. */
const pausesMs = [500, 750, 1125, 1688];
/** What is longer is not kept. */
const mostReason = 4 << 10;

export interface WebhookModeOptions {
  name: string;
  configuration: Omit<WebhookConfiguration, 'kubeConfigFile' | 'timeoutMs'>;
  /** To the webhook, which is POSTed a SubjectAccessReview at its own path. */
  transport: Transport;
  /** Whoever asked is told that it failed, not how. */
  failed(error: unknown): void;
  now?: () => number;
  pause?: (millis: number) => Promise<unknown>;
}

/**
 * What a webhook says of who may do what: SubjectAccessReviews, whose answers count for a while, each in the logical cluster
 * that it is about. https://kubernetes.io/docs/reference/access-authn-authz/webhook/
 */
export function webhookMode(options: WebhookModeOptions): AuthorizationMode {
  const { name, configuration, failed, now } = options;
  const { matchConditions, rememberMs, failurePolicy } = configuration;
  const remembered = new Answers<AccessStatus>(now);
  const failure = (error: string): Decision => ({
    allowed: false,
    ...(failurePolicy === 'Deny' && { denied: true }),
    error,
  });
  const ask = async (cluster: string, spec: AccessSpec, key: string): Promise<Decision> => {
    try {
      const status = await review(options, spec);
      const millis = status.allowed ? rememberMs.allowed : rememberMs.others;
      if (millis > 0 && status.reason.length <= mostReason) remembered.put(cluster, key, status, millis);
      return decisionOf(status);
    } catch (error) {
      failed(error);
      return failure(`webhook authorizer ${JSON.stringify(name)} gave no answer`);
    }
  };
  return {
    authorize(asked) {
      // A path that leads to no logical cluster: whoever is told no is not told that.
      if (asked.cluster === '') return { allowed: false };
      const spec = specOf(asked);
      try {
        if (!meetsConditions(matchConditions, spec)) return { allowed: false };
      } catch (error) {
        return failure((error as Error).message);
      }
      const key = JSON.stringify(spec);
      const known = remembered.get(asked.cluster, key);
      return known ? decisionOf(known) : ask(asked.cluster, spec, key);
    },
    rulesFor: () => ({
      rules: [],
      incomplete: true,
      error: 'webhook authorizer does not support user rule resolution',
    }),
  };
}

function decisionOf({ allowed, denied, reason }: AccessStatus): Decision {
  const why = reason !== '' && { reason };
  if (!denied) return { allowed, ...why };
  const both = 'webhook subject access review returned both allow and deny response';
  return { allowed: false, denied: true, ...why, ...(allowed && { error: both }) };
}

/** What of the logical cluster stands in `extra` is said here, whatever the user brought. */
function specOf({ user, cluster, path, selectors, ...asked }: Attributes): AccessSpec {
  const { uid = '', groups, extra } = user;
  return {
    ...(path === undefined
      ? { resourceAttributes: resourceOf(asked, selectors?.()) }
      : { nonResourceAttributes: said({ path, verb: asked.verb }) }),
    user: user.name,
    ...(groups.length > 0 && { groups }),
    extra: { ...extra, [clusterExtra]: [cluster] },
    ...(uid !== '' && { uid }),
  };
}

function resourceOf(
  { namespace, verb, group, version, resource, subresource, name }: Omit<Attributes, 'user' | 'cluster'>,
  { field = [], label = [] }: Partial<ReturnType<NonNullable<Attributes['selectors']>>> = {},
): NonNullable<AccessSpec['resourceAttributes']> {
  return {
    ...said({ namespace, verb, group, version, resource, subresource, name }),
    ...(field.length > 0 && { fieldSelector: { requirements: field } }),
    ...(label.length > 0 && { labelSelector: { requirements: label } }),
  };
}

function said(words: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(words).filter(([, word]) => word !== ''));
}

/** Tries again where the answer says that this helps. Throws what kept it from an answer last. */
async function review(
  { transport, configuration, pause = setTimeout }: WebhookModeOptions,
  spec: AccessSpec,
): Promise<AccessStatus> {
  const version = configuration.subjectAccessReviewVersion;
  const body = Buffer.from(JSON.stringify(subjectAccessReview(version, spec)));
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  for (let tries = 0; ; tries++) {
    const answer = await transport({ method: 'POST', url: '', headers, body }).catch((error: unknown) => {
      if (!isReset(error)) throw error;
      return error as Error;
    });
    const wait = passes(answer) ? pausesMs[tries] : undefined;
    if (wait === undefined) return statusOf(answer, version);
    await pause(wait);
  }
}

function statusOf(answer: ApiResponse | Error, version: string): AccessStatus {
  if (answer instanceof Error) throw answer;
  if (answer.status < 200 || answer.status > 206) throw new Error(`it answered ${answer.status}`);
  return statusIn(JSON.parse(Buffer.from(answer.body as Uint8Array).toString()), version);
}

function passes(answer: ApiResponse | Error): boolean {
  if (answer instanceof Error) return true;
  const { status, headers } = answer;
  const later = headers['retry-after'] !== undefined && status >= 500;
  return status === 429 || status === 500 || status === 504 || later;
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
