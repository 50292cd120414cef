import { jsonType } from '../../kube/go-words.ts';
import { encodeJson } from '../../kube/json.ts';
import type { Json, JsonObject, KubeObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import { restored } from './metadata.ts';

/** What a webhook did not convert, in kube-apiserver's words. */
export class ConversionError extends Error {
  readonly failure: string;

  /** @param failure how kube-apiserver counts it. */
  constructor(message: string, failure = 'invalid_converted_object') {
    super(message);
    this.failure = `conversion_webhook_${failure}_failure`;
  }
}

/** A ConversionReview of the first version that the webhook takes and that is known; undefined where none is. */
export function reviewOf(
  objects: readonly KubeObject[],
  { apiVersion, versions, uid }: { apiVersion: string; versions: readonly string[]; uid: string },
): JsonObject | undefined {
  const version = versions.find((one) => one === 'v1' || one === 'v1beta1');
  if (version === undefined) return undefined;
  const request = { uid, desiredAPIVersion: apiVersion, objects } as unknown as JsonObject;
  return { kind: 'ConversionReview', apiVersion: `apiextensions.k8s.io/${version}`, request };
}

/**
 * What a webhook made of the objects of its review, in their order: in the version that was asked for, with their own metadata
 * but for labels and annotations. Throws a ConversionError for all that kube-apiserver does not take.
 */
export function convertedBy(
  answer: JsonObject,
  review: JsonObject,
  objects: readonly KubeObject[],
): KubeObject[] {
  const about = `conversion webhook for ${kindOf(objects[0])}`;
  const request = review['request'] as { uid: string; desiredAPIVersion: string };
  const given = objectsIn(
    answer,
    review,
    request.uid,
    (why) => new ConversionError(`${about} failed: ${why}`, 'malformed_response'),
  );
  if (given.length !== objects.length) {
    const why = `${about} returned ${given.length} objects, expected ${objects.length}`;
    throw new ConversionError(why, objects.length === 1 ? 'no_objects_returned' : 'partial_response');
  }
  return objects.map((object, index) => converted(object, given[index] as Json, request.desiredAPIVersion));
}

function objectsIn(
  answer: JsonObject,
  review: JsonObject,
  uid: string,
  failed: (why: string) => ConversionError,
): Json[] {
  const [asked, version] = [versionOf(review), versionOf(answer)];
  if (answer['apiVersion'] !== '' && asked !== version) {
    throw failed(
      `converting (${version}.ConversionReview) to (${asked}.ConversionReview): unknown conversion`,
    );
  }
  const expected = kindOf(review as unknown as KubeObject);
  const got = `${String(answer['apiVersion'] || '/')}, Kind=${String(answer['kind'])}`;
  // v1beta1 once did not say what it is, nor whom it answers.
  if (asked === 'v1' && got !== expected)
    throw failed(`expected webhook response of ${expected}, got ${got}`);
  const { response } = answer;
  if (!isRecord(response)) throw failed('no response provided');
  const quoted = JSON.stringify(String(response['uid'] ?? ''));
  if (asked === 'v1' && response['uid'] !== uid) {
    throw failed(`expected response.uid=${JSON.stringify(uid)}, got ${quoted}`);
  }
  const result = isRecord(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success') {
    const said = typeof result['message'] === 'string' ? result['message'] : '';
    throw failed(said || `response.result.status was '${String(result['status'] ?? '')}', not 'Success'`);
  }
  const { convertedObjects } = response;
  return Array.isArray(convertedObjects) ? (convertedObjects as Json[]) : [];
}

function versionOf({ apiVersion }: JsonObject): string {
  return String(apiVersion).split('/')[1] ?? '';
}

function converted(object: KubeObject, given: Json, apiVersion: string): KubeObject {
  const about = `conversion webhook for ${kindOf(object)} returned invalid`;
  if (given === null) throw new ConversionError('unexpected end of JSON input');
  if (!isRecord(given)) {
    throw new ConversionError(
      `json: cannot unmarshal ${jsonType(given)} into Go value of type map[string]interface {}`,
    );
  }
  const { kind } = given;
  if (typeof kind !== 'string' || kind === '') {
    throw new ConversionError(`Object 'Kind' is missing in '${encodeJson(given)}'`);
  }
  const version = String(given['apiVersion'] ?? '');
  if (version !== apiVersion) {
    const why = `invalid groupVersion (expected ${apiVersion}, received ${version})`;
    throw new ConversionError(`${about} object at index 0: ${why}`);
  }
  if (kind !== object.kind) {
    const why = `invalid kind (expected ${object.kind}, received ${kind})`;
    throw new ConversionError(`${about} object at index 0: ${why}`);
  }
  const { metadata, problem } = restored(object, given as JsonObject);
  if (problem !== undefined) throw new ConversionError(`${about} ${problem}`);
  return { ...(given as unknown as KubeObject), metadata };
}

/** As Go prints a GroupVersionKind. */
export function kindOf(object: KubeObject | undefined): string {
  return `${object?.apiVersion ?? ''}, Kind=${object?.kind ?? ''}`;
}
