import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { emptiesOf } from '../defaults/empty.ts';
import { isRecord, record } from '../untyped.ts';

/** A field of one of kube-apiserver's own types; `name` is empty for a struct whose fields are its parent's. */
interface InternalField {
  name: string;
  /** What the API calls it, in lower case: the two differ in nothing else. */
  key: string;
  omitEmpty: boolean;
  type: string;
}

let table: Readonly<Record<string, string>> | undefined;
const parsed = new Map<string, readonly InternalField[]>();

/** Read at first use: only messages of rare errors show these types. */
function fieldsOf(type: string): readonly InternalField[] {
  let fields = parsed.get(type);
  if (fields) return fields;
  const file = new URL('../schema/generated/internal.json.gz', import.meta.url);
  table ??= JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as Record<string, string>;
  fields = (table[type] ?? '').split(' ').filter(Boolean).map(parseField);
  parsed.set(type, fields);
  return fields;
}

function parseField(word: string): InternalField {
  const [label = '', type = ''] = word.split(':');
  const name = label.replace('?', '');
  return { name, key: name.toLowerCase(), omitEmpty: label.endsWith('?'), type };
}

const zeros: Readonly<Record<string, unknown>> = {
  s: '',
  n: 0,
  b: false,
  jQuantity: '0',
  jIntOrString: 0,
  jDuration: '0s',
  jObjectMeta: {},
  jLabelSelector: {},
};

/**
 * `value` as Go writes the type that kube-apiserver keeps it in: `core.PodSpec` and so on, of kube/schema/generated.
 * Messages show objects in that form.
 */
export function internal(value: unknown, type: string): unknown {
  if (value === undefined || value === null)
    return type.includes('.') && !/^\W/.test(type) ? struct({}, type) : (zeros[type] ?? null);
  if (type.startsWith('*')) return internal(value, type.slice(1));
  if (type.startsWith('[]')) {
    const item = type.slice(2);
    return Array.isArray(value) ? value.map((one) => internal(one, item)) : null;
  }
  if (type.startsWith('{}')) {
    const entries = Object.entries(record(value)).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, one]) => [key, internal(one, type.slice(2))]));
  }
  return type.includes('.') ? struct(record(value), type) : value;
}

function struct(given: Record<string, unknown>, type: string): unknown {
  const value = type === 'core.PodSpec' ? withHostNamespaces(given) : given;
  const whole = { ...emptiesOf(value), ...value };
  const keys = new Map(Object.keys(whole).map((key) => [key.toLowerCase(), key]));
  const out: Record<string, unknown> = {};
  for (const field of fieldsOf(type)) {
    if (field.type === 'jTypeMeta') continue;
    if (field.name === '') {
      const inner = field.type === 'jObjectMeta' ? value['metadata'] : value;
      Object.assign(out, internal(inner, field.type.replace('*', '')));
      continue;
    }
    const own = keys.get(field.key);
    const item = own === undefined ? undefined : (whole[own] ?? emptiesOf(value)?.[own]);
    if (field.omitEmpty && (item === undefined || item === '' || item === 0 || item === false)) continue;
    out[field.name] = item === undefined || item === null ? zero(field.type) : internal(item, field.type);
  }
  return out;
}

function zero(type: string): unknown {
  return /^[*[{]/.test(type) ? null : internal(undefined, type);
}

/** The API has them beside the security context, kube-apiserver within it. */
function withHostNamespaces(spec: Record<string, unknown>): Record<string, unknown> {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const own = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  if (!isRecord(spec['securityContext']) && Object.values(own).every((one) => one === undefined)) return spec;
  return { ...spec, securityContext: { ...record(spec['securityContext']), ...own } };
}
