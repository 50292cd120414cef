import { randomUUID } from 'node:crypto';
import type { GroupVersionKind, GroupVersionResource } from '../../../kube/gvk.ts';
import { decodeJson } from '../../../kube/json.ts';
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

export interface Verdict {
  allowed: boolean;
  result: JsonObject;
  warnings: string[];
  /** A JSON patch, or undefined. */
  patch: Json | undefined;
}

/** The answer is none: the message follows "failed calling webhook". */
export class ReviewError extends Error {}

/** Throws ReviewError for what a webhook may not answer. */
export function verdictOf(answer: JsonObject, review: JsonObject, mutating: boolean): Verdict {
  const response = answer['response'];
  if (!isRecord(response)) throw invalid('webhook response was absent');
  const v1 = review['apiVersion'] === 'admission.k8s.io/v1';
  const { patch, patchType } = response as { patch?: string; patchType?: string };
  if (v1) checkV1(answer, review, response, mutating);
  const warnings = Array.isArray(response['warnings']) ? response['warnings'].map(String) : [];
  return {
    allowed: response['allowed'] === true,
    result: (isRecord(response['status']) ? response['status'] : {}) as JsonObject,
    warnings,
    patch: mutating && patch ? decodePatch(patch, v1 ? patchType : 'JSONPatch') : undefined,
  };
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

function decodePatch(base64: string, type: string | undefined): Json {
  const undecodable = (why: string) =>
    new ReviewError(`received undecodable patch in webhook response: ${why}`);
  if (type !== 'JSONPatch') throw new ReviewError(`unsupported patch type ${quote(type ?? '')}`);
  let patch: Json;
  try {
    patch = decodeJson(Buffer.from(base64, 'base64')).value;
  } catch (error) {
    throw undecodable(error instanceof Error ? error.message : String(error));
  }
  if (Array.isArray(patch)) return patch;
  const given = isRecord(patch) ? 'object' : typeof patch;
  throw undecodable(`json: cannot unmarshal ${given} into Go value of type jsonpatch.Patch`);
}

/** What the client is told when a webhook refuses. */
export function denial(name: string, result: JsonObject): StatusError {
  const by = `admission webhook ${quote(name)} denied the request`;
  const code = typeof result['code'] === 'number' && result['code'] >= 400 ? result['code'] : 400;
  const reason = typeof result['reason'] === 'string' ? result['reason'] : '';
  const said = typeof result['message'] === 'string' && result['message'] ? result['message'] : reason;
  const details = isRecord(result['details']) ? detailsOf(result['details'] as StatusDetails) : undefined;
  return new StatusError(code, reason, said ? `${by}: ${said}` : `${by} without explanation`, details);
}

function detailsOf({ causes, retryAfterSeconds, ...given }: StatusDetails): StatusDetails {
  const rest = { ...given, ...(Number.isInteger(retryAfterSeconds) && { retryAfterSeconds }) };
  if (!Array.isArray(causes)) return rest;
  return {
    ...rest,
    causes: causes.map(({ reason, message, field }) => ({
      ...(reason && { reason }),
      ...(message && { message }),
      ...(field && { field }),
    })),
  };
}

function invalid(why: string): ReviewError {
  return new ReviewError(`received invalid webhook response: ${why}`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
