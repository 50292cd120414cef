import { deepEqual } from '../../kube/deep.ts';
import { jsonType } from '../../kube/go-words.ts';
import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../../kube/gvk.ts';
import type { Json, JsonObject } from '../../kube/object.ts';
import { goText } from '../../kube/patch/strategic-errors.ts';
import { encodeMarked, marked, type Written } from '../../kube/patch/written.ts';
import { quoteGo } from '../../kube/quote.ts';
import type { Schema } from '../../kube/schema/schema.ts';
import { invalid, type StatusError } from '../../kube/status.ts';
import { getOwn, isRecord, setOwn } from '../../kube/untyped.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface Patched {
  type: Exclude<PatchType, 'apply'>;
  /** As it was sent, decoded. */
  patch: Json;
  before: JsonObject;
  after: JsonObject;
  schema: Schema;
  /** How numbers of `after` are written, where their values do not tell. */
  written?: Written;
}

/** The 422 for a patch whose result is no object of its kind: kube-apiserver shows the result, or the patch. */
export function refusedPatch(patched: Patched, why: string): StatusError {
  const shown = patched.type === 'strategic' ? goText(patched.patch) : textOf(patched);
  const message = `Invalid value: ${quoteGo(shown)}: ${why}`;
  return invalid('', '', '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
}

/**
 * A custom resource is validated as what the patch says that it is, after it was read as that. Throws StatusError 422
 * for another kind or version, for none, and for what is no name.
 */
export function requireKind(patched: Patched, info: GroupVersionKind): void {
  const { after } = patched;
  for (const name of ['apiVersion', 'kind']) {
    const value = getOwn(after, name) as Json | undefined;
    if (value === undefined || value === null || typeof value === 'string') continue;
    const into = `Go struct field .${name} of type string`;
    const why = `json: cannot unmarshal ${jsonType(value)} into ${into}`;
    throw refusedPatch(patched, `couldn't get version/kind; json parse error: ${why}`);
  }
  const { kind, apiVersion, metadata } = after as Record<string, unknown>;
  if (!kind) throw refusedPatch(patched, `Object 'Kind' is missing in '${textOf(patched)}'`);
  const expected: [string, unknown, string][] = [
    ['kind', kind, info.kind],
    ['apiVersion', apiVersion || formatApiVersion(info), formatApiVersion(info)],
  ];
  const causes = expected.flatMap(([field, given, wanted]) => {
    const message = `Invalid value: ${quoteGo(String(given))}: must be ${wanted}`;
    return given === wanted ? [] : [{ reason: 'FieldValueInvalid', message, field }];
  });
  if (causes.length === 0) return;
  const { group } = parseApiVersion(String(apiVersion ?? ''));
  const name = isRecord(metadata) ? String(getOwn(metadata, 'name') ?? '') : '';
  throw invalid(group, String(kind), name, causes);
}

/** A strategic merge patch is decoded as the kind of the URL, whatever it says. */
export function kindly(object: JsonObject, type: PatchType, info: GroupVersionKind): JsonObject {
  if (type !== 'strategic') return object;
  return { ...object, kind: info.kind, apiVersion: formatApiVersion(info) };
}

const isText = (value: Json | undefined) => value === undefined || typeof value === 'string';

export function isNamed(object: JsonObject): boolean {
  return isText(object['kind']) && isText(object['apiVersion']);
}

/** The object with the members that a JSON or merge patch touched in order of their names, as Go writes maps. */
export function inPatchedOrder({ before, after, schema }: Omit<Patched, 'type' | 'patch'>): JsonObject {
  return ordered(after, before, schema, true) as JsonObject;
}

function textOf(patched: Patched): string {
  const { after, written } = patched;
  const shown = written ? { ...patched, after: marked(after, written) as JsonObject } : patched;
  const text = encodeMarked(inPatchedOrder(shown));
  return text.replace(/[<>&]/g, (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

function ordered(value: Json, before: Json | undefined, schema: Schema, top: boolean): Json {
  const same = before !== undefined && !top && (value === before || deepEqual(value, before));
  if (same) return inGoOrder(value, schema);
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value).sort()) {
    const old = isRecord(before) ? (getOwn(before, name) as Json | undefined) : undefined;
    setOwn(
      result,
      name,
      ordered((value as JsonObject)[name] ?? null, old, memberSchema(schema, name), false),
    );
  }
  return result;
}

const any: Schema = { type: 'any' };

function memberSchema(schema: Schema, name: string): Schema {
  if (schema.type === 'object') return schema.fields.get(name)?.schema ?? any;
  return schema.type === 'map' ? schema.values : any;
}

/** Structs in the order of their fields, maps in that of their keys. */
function inGoOrder(value: Json, schema: Schema): Json {
  if (Array.isArray(value)) {
    const items = schema.type === 'list' ? schema.items : any;
    return value.map((item) => inGoOrder(item, items));
  }
  if (!isRecord(value)) return value;
  const names = Object.keys(value);
  const fields = schema.type === 'object' ? [...schema.fields.keys()] : [];
  const place = new Map(fields.map((name, i) => [name, i] as const));
  names.sort((a, b) => (place.get(a) ?? 1e6) - (place.get(b) ?? 1e6) || (a < b ? -1 : 1));
  const result: JsonObject = {};
  for (const name of names) {
    setOwn(result, name, inGoOrder((value as JsonObject)[name] ?? null, memberSchema(schema, name)));
  }
  return result;
}
