import { randomUUID } from 'node:crypto';
import { jsonType } from '../../../kube/go-words.ts';
import type { GroupVersionKind, GroupVersionResource } from '../../../kube/gvk.ts';
import { decodeJsonInTurns } from '../../../kube/json.ts';
import type { Json, JsonObject } from '../../../kube/object.ts';
import { type StatusDetails, StatusError } from '../../../kube/status.ts';
import { isRecord } from '../../../kube/untyped.ts';
import type { Question } from '../matching/question.ts';

/** An AdmissionReview of a version that the webhook takes; undefined when it takes none that we know. */
export function reviewOf(question: Question, versions: readonly string[]): JsonObject | undefined {
  const version = versions.find((one) => one === 'v1' || one === 'v1beta1');
  if (version === undefined) return undefined;
  const { subresource, namespace, name, user } = question;
  const userInfo = {
    username: user.name,
    ...(user.uid && { uid: user.uid }),
    groups: [...user.groups],
    ...(user.extra && { extra: user.extra }),
  };
  const request = {
    uid: randomUUID(),
    kind: gvk(question.kind),
    resource: gvr(question.resource),
    ...(subresource && { subResource: subresource }),
    requestKind: gvk(question.requestKind),
    requestResource: gvr(question.requestResource),
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation: question.operation,
    userInfo,
    object: question.object ?? null,
    oldObject: question.old ?? null,
    dryRun: question.dryRun,
    options: question.options ?? null,
  };
  const apiVersion = `admission.k8s.io/${version}`;
  return { kind: 'AdmissionReview', apiVersion, request } as unknown as JsonObject;
}

function gvk({ group, version, kind }: GroupVersionKind) {
  return { group, version, kind };
}

function gvr({ group, version, resource }: GroupVersionResource) {
  return { group, version, resource };
}

/** Of a Status; what is no text or number says nothing. */
interface Result {
  code?: number;
  reason?: string;
  message?: string;
  details?: StatusDetails;
}

/** All that is kept of an answer. */
export interface Verdict {
  allowed: boolean;
  /** Why not. */
  result: Result;
  warnings: string[];
  /** A JSON patch, or undefined. */
  patch: Json | undefined;
}

/** The answer is none: the message follows "failed calling webhook". */
export class ReviewError extends Error {}

/** Fails with ReviewError for what a webhook may not answer. A long patch is read in turns with `others`. */
export async function verdictOf(
  answer: JsonObject,
  review: JsonObject,
  mutating: boolean,
  others: () => Promise<void>,
): Promise<Verdict> {
  const response = answer['response'];
  if (!isRecord(response)) throw invalid('webhook response was absent');
  const v1 = review['apiVersion'] === 'admission.k8s.io/v1';
  for (const field of ['uid', 'patch', 'patchType']) textOf(response[field], field);
  const { patch, patchType } = response as { patch?: string; patchType?: string };
  if (v1) checkV1(answer, review, response, mutating);
  const given = response['warnings'] ?? [];
  if (!Array.isArray(given)) throw ofNoType(given, 'warnings', 'array');
  const warnings = given.map((warning) => textOf(warning, 'warnings'));
  const { allowed: said = null, status = null } = response;
  if (said !== null && typeof said !== 'boolean') throw ofNoType(said, 'allowed', 'boolean');
  if (status !== null && !isRecord(status)) throw ofNoType(status, 'status', 'object');
  const allowed = said === true;
  return {
    allowed,
    result: !allowed && status !== null ? resultOf(status) : {},
    warnings,
    patch: mutating && patch ? await decodePatch(patch, v1 ? patchType : 'JSONPatch', others) : undefined,
  };
}

/** What is anything else may say to be as long as it likes, and is made no text of. */
function textOf(value: unknown, field: string): string {
  const given = value ?? '';
  if (typeof given !== 'string') throw ofNoType(given, field, 'string');
  return given;
}

function ofNoType(value: unknown, field: string, type: string): ReviewError {
  const given = jsonType(value);
  return invalid(`response.${field} is ${/^[ao]/.test(given) ? 'an' : 'a'} ${given}, no ${type}`);
}

function checkV1(
  answer: JsonObject,
  review: JsonObject,
  response: Record<string, unknown>,
  mutating: boolean,
): void {
  const { patch, patchType } = response;
  const { uid } = review['request'] as { uid: string };
  const given = String(response['uid'] ?? '');
  if (given !== uid) throw invalid(`expected response.uid=${quote(uid)}, got ${quote(given)}`);
  if (answer['apiVersion'] !== 'admission.k8s.io/v1') {
    const got = `${String(answer['apiVersion'] || '/')}, Kind=${String(answer['kind'])}`;
    throw invalid(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
  }
  if (!mutating) {
    if (patch) throw invalid('validating webhook may not return response.patch');
    if (patchType !== undefined && patchType !== null) {
      throw invalid('validating webhook may not return response.patchType');
    }
    return;
  }
  const typed = patchType !== undefined && patchType !== null;
  if (patch && !typed) throw invalid('webhook returned response.patch but not response.patchType');
  if (!patch && typed) throw invalid('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""');
}

async function decodePatch(
  base64: string,
  type: string | undefined,
  others: () => Promise<void>,
): Promise<Json> {
  const undecodable = (why: string) =>
    new ReviewError(`received undecodable patch in webhook response: ${why}`);
  if (type !== 'JSONPatch') throw new ReviewError(`unsupported patch type ${quote(type ?? '')}`);
  let patch: Json;
  try {
    patch = await decodeJsonInTurns(Buffer.from(base64, 'base64'), others);
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error));
  }
  // As Go's decoder has it, null is no operation: what knative answers where it changes nothing.
  if (patch === null) return [];
  if (Array.isArray(patch)) return patch;
  const given = isRecord(patch) ? 'object' : typeof patch;
  throw undecodable(`json: cannot unmarshal ${given} into Go value of type jsonpatch.Patch`);
}

/** HTTP has no room for more. */
const mostCode = 999;

/** What the client is told when a webhook refuses. */
export function denial(name: string, { code = 0, reason = '', message, details }: Result): StatusError {
  const by = `admission webhook ${quote(name)} denied the request`;
  const said = message || reason;
  return new StatusError(
    Number.isInteger(code) && code >= 400 && code <= mostCode ? code : 400,
    reason,
    said ? `${by}: ${said}` : `${by} without explanation`,
    details,
  );
}

/** Of more than this the client is told no more: small ones may be very many. */
const mostCauses = 1000;

function resultOf({ code, reason, message, details }: Record<string, unknown>): Result {
  return {
    ...(typeof code === 'number' && { code }),
    ...texts({ reason, message }),
    ...(isRecord(details) && { details: detailsOf(details) }),
  };
}

function detailsOf({
  name,
  group,
  kind,
  uid,
  causes,
  retryAfterSeconds,
}: Record<string, unknown>): StatusDetails {
  return {
    ...texts({ name, group, kind, uid }),
    ...(Number.isInteger(retryAfterSeconds) && { retryAfterSeconds: retryAfterSeconds as number }),
    ...(Array.isArray(causes) && {
      causes: causes
        .slice(0, mostCauses)
        .filter(isRecord)
        .map(({ reason, message, field }) => texts({ reason, message, field })),
    }),
  };
}

function texts(given: Record<string, unknown>): Record<string, string> {
  const said = Object.entries(given).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(said) as Record<string, string>;
}

function invalid(why: string): ReviewError {
  return new ReviewError(`received invalid webhook response: ${why}`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
