import { refuseDeep } from '../../kube/depth.ts';
import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../../kube/gvk.ts';
import { type DecodedJson, decodeJson, JsonSyntaxError } from '../../kube/json.ts';
import type { Json, JsonObject, KubeObject } from '../../kube/object.ts';
import { decodeProtobuf } from '../../kube/protobuf/codec.ts';
import { MessageError } from '../../kube/protobuf/errors.ts';
import { schemaOf } from '../../kube/schema/builtin.ts';
import { prune } from '../../kube/schema/prune.ts';
import { cannotHandle, strictProblems } from '../../kube/schema/refusal.ts';
import { type Decoded, decodeMetadata, decodeStruct } from '../../kube/schema/strict.ts';
import { badRequest, invalid, type StatusCause, type StatusError } from '../../kube/status.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import { floatCauses } from '../../kube/validation/custom/scale.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import { yamlText } from '../../kube/yaml-text.ts';
import type { ServedResource } from '../served.ts';
import { otherThan, requireNamed } from './custom-kind.ts';
import { type Duplicates, joinedProblems, noDuplicates, problemsOf } from './duplicates.ts';
import type { Encoding } from './media.ts';
import { unrecognized } from './unrecognized.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface Decoding {
  validation: FieldValidation;
  warn(message: string): void;
  /** Of an applied object, nulls are told before they go. */
  keepNulls?: boolean;
  /** Our own controllers give back what was there, as deep as it was before that was refused. */
  deep?: boolean;
  /** How a JSON body has its numbers of which the value does not tell: decodeJson. */
  literals?: ReadonlyMap<string, string>;
  /** Where a custom resource counts something for its Scale: `.spec.replicas`. */
  counts?: readonly string[];
  /** It is what a strategic merge patch or an apply made, of which kube-apiserver reads no JSON. */
  converted?: boolean;
  /** What answers a value that is no such object; default: 400, as for a body. */
  refuse?(why: string): StatusError;
}

/**
 * A body that holds one object of a served kind: syntax, kind, then its fields. Throws StatusError 400 in
 * kube-apiserver's words.
 */
export function decodeBody(
  body: Uint8Array,
  encoding: Encoding,
  served: ServedResource,
  decoding: Decoding,
): KubeObject {
  const { value, duplicates, literals } = parseBody(body, encoding, served.info);
  if (served.custom) requireNamed(value, body, served);
  return conform(value, duplicates, served, { ...decoding, ...(literals && { literals }) });
}

const parseError = "couldn't get version/kind; json parse error: ";

export interface Parsed {
  value: JsonObject;
  duplicates: Duplicates;
  literals?: ReadonlyMap<string, string> | undefined;
}

/** JSON, YAML or protobuf to an object of any kind; `expected` names the kind where the body does not. */
export function parseBody(body: Uint8Array, encoding: Encoding, expected: GroupVersionKind): Parsed {
  if (encoding === 'protobuf') {
    try {
      return { value: decodeProtobuf(body, expected) as unknown as JsonObject, duplicates: noDuplicates };
    } catch (error) {
      if (error instanceof MessageError) throw badRequest(unhandled(expected, messageOf(error)));
      throw unrecognized(expected, messageOf(error), body);
    }
  }
  let decoded: DecodedJson;
  try {
    decoded = encoding === 'yaml' ? decodeYaml(yamlText(body)) : decodeJson(body, { strict: true });
  } catch (error) {
    if (encoding === 'json' && !(error instanceof JsonSyntaxError)) throw error;
    const why = encoding === 'yaml' ? messageOf(error) : `${parseError}${messageOf(error)}`;
    throw unrecognized(expected, why, body);
  }
  if (decoded.value === null) return { value: {}, duplicates: noDuplicates };
  if (!isRecord(decoded.value)) {
    const type = Array.isArray(decoded.value) ? 'array' : typeof decoded.value;
    const into =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw unrecognized(
      expected,
      `${parseError}json: cannot unmarshal ${type} into Go value of type ${into}`,
      body,
    );
  }
  const value = decoded.value as JsonObject;
  for (const name of ['apiVersion', 'kind'].filter(() => encoding === 'json')) {
    const given = getOwn(value, name);
    if (given === undefined || given === null || typeof given === 'string') continue;
    const into = `Go struct field .${name} of type string`;
    throw unrecognized(expected, `${parseError}json: cannot unmarshal ${wordFor(given)} into ${into}`, body);
  }
  const { literals } = decoded;
  return { value, duplicates: duplicatesOf(body, encoding, decoded.duplicates), literals };
}

function duplicatesOf(body: Uint8Array, encoding: Encoding, found: readonly string[]): Duplicates {
  if (found.length === 0) return noDuplicates;
  if (encoding === 'yaml') return { paths: [], lines: found };
  return { paths: found, text: Buffer.from(body).toString() };
}

function wordFor(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** Checks kind and fields of something that should be an object of `served`; unknown fields are dropped. */
export function conform(
  given: JsonObject,
  duplicates: Duplicates,
  served: ServedResource,
  decoding: Decoding,
): KubeObject {
  const refuse = decoding.refuse ?? ((why) => cannotHandle(served.info, why));
  const value = withKind(given, served, decoding);
  refuseCrowds(value, served);
  if (!decoding.deep) refuseDeep(value, served.info);
  const decoded = served.custom
    ? decodeCustom(value, served, decoding)
    : decodeStruct(value, served.info, decoding.literals, decoding.converted);
  if (decoded.error !== undefined) throw refuse(decoded.error);
  if (decoding.validation !== 'Ignore') {
    const problems = problemsOf(duplicates, decoded.unknown, !served.custom);
    if (problems.length > 0 && decoding.validation === 'Strict')
      throw refuse(strictProblems(joinedProblems(duplicates, problems)));
    for (const problem of problems) decoding.warn(problem);
  }
  // What is invalid is told last, and beside the warnings.
  if (decoding.counts && decoding.literals)
    requireCounts(decoded.value, served, decoding.counts, decoding.literals);
  const object = decoded.value as unknown as KubeObject;
  return isRecord(object.metadata) ? object : { ...object, metadata: {} };
}

function requireCounts(
  { metadata }: JsonObject,
  { info }: ServedResource,
  counts: readonly string[],
  literals: ReadonlyMap<string, string>,
): void {
  const causes = floatCauses(counts, literals);
  if (causes.length === 0) return;
  const name = isRecord(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  throw invalid(info.group, info.kind, name, causes);
}

const crowd = 10_000;

/**
 * Metadata that no one could mean. kube-apiserver works on it until the request's time is up; here it is refused
 * before it costs anything.
 */
function refuseCrowds({ metadata }: JsonObject, { info }: ServedResource): void {
  if (!isRecord(metadata)) return;
  const causes: StatusCause[] = [];
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields']) {
    const members = getOwn(metadata, field);
    if (typeof members !== 'object' || members === null) continue;
    const count = Array.isArray(members) ? members.length : Object.keys(members).length;
    if (count <= crowd) continue;
    const message = `Too many: ${count}: must have at most ${crowd} items`;
    causes.push({ reason: 'FieldValueTooMany', message, field: `metadata.${field}` });
  }
  const { name } = metadata;
  if (causes.length > 0) throw invalid(info.group, info.kind, typeof name === 'string' ? name : '', causes);
}

/** Its metadata is typed; a null there is none. */
function decodeCustom(
  value: JsonObject,
  served: ServedResource,
  { keepNulls }: Decoding,
): Decoded & { error?: string } {
  const { metadata = null, ...rest } = value;
  const read = metadata === null ? {} : decodeMetadata(metadata);
  if (read.error !== undefined) return { value, unknown: [], error: read.error };
  const pruned = prune(metadata === null ? rest : value, served.schema);
  const { value: known, unknown } = pruned as { value: JsonObject; unknown: string[] };
  if (read.value !== undefined) known['metadata'] = read.value;
  if (keepNulls || !served.coerce) return { value: known, unknown };
  const { object, error } = served.coerce(known as unknown as KubeObject);
  return { value: object as unknown as JsonObject, unknown, ...(error !== undefined && { error }) };
}

function withKind(value: JsonObject, served: ServedResource, { refuse }: Decoding): JsonObject {
  const { info } = served;
  const expected = { apiVersion: formatApiVersion(info), kind: info.kind };
  const apiVersion = value['apiVersion'] || expected.apiVersion;
  const kind = value['kind'] || expected.kind;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw badRequest('apiVersion and kind must be strings');
  }
  if (apiVersion !== expected.apiVersion || kind !== expected.kind) {
    const { version } = parseApiVersion(apiVersion);
    const why = mismatch(apiVersion, kind, served);
    if (refuse) throw refuse(why);
    if (served.custom) throw otherThan({ apiVersion, kind }, value, served);
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${info.kind}: ${why}`,
    );
  }
  const { apiVersion: _v, kind: _k, ...rest } = value;
  return { kind, apiVersion, ...rest };
}

function mismatch(apiVersion: string, kind: string, { info }: ServedResource): string {
  const given = parseApiVersion(apiVersion);
  if (schemaOf({ ...given, kind }) === undefined) {
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  }
  const internal = info.group === '' ? 'core' : (info.group.split('.')[0] ?? '');
  return `converting (${given.version}.${kind}) to (${internal}.${info.kind}): unknown conversion`;
}

function unhandled({ kind, version }: GroupVersionKind, why: string): string {
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
