import { jsonType } from '../go-words.ts';
import { formatApiVersion, type GroupVersionKind } from '../gvk.ts';
import { literalAt } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { badRequest } from '../status.ts';
import { isRecord, setOwn } from '../untyped.ts';
import { isAsItIs, maxDepth } from './exact.ts';
import { fieldsOf, shortName } from './fields.ts';
import { type GoShape, type GoStruct, structNamed, structOf } from './go.ts';
import { base64Error, digits, fits, isNumber, specialError, typeName } from './mismatch.ts';
import { ofNull } from './null.ts';
import type { Special } from './table.ts';

/** kube-apiserver reports no more unknown fields than these for one object. */
const maxUnknown = 100;

export interface Decoded {
  value: JsonObject;
  /** `unknown field "spec.foo"`: warnings, or with fieldValidation=Strict one error. */
  unknown: string[];
}

/**
 * `value` as kube-apiserver's JSON decoder takes it for a built-in kind: unknown fields and nulls are dropped, names
 * are case-sensitive, and the first value of a wrong type ends it.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
 * @throws StatusError 400 BadRequest in kube-apiserver's words, or for a kind that is not built in.
 */
export function decodeBuiltin(value: JsonObject, gvk: GroupVersionKind): Decoded {
  const { error, ...decoded } = decodeStruct(value, gvk);
  if (error !== undefined) throw cannotHandle(gvk, error);
  return decoded;
}

/** As decodeBuiltin; what ends it is answered, not thrown. The answer's value may be the argument. `literals`: as decodeJson's. */
export function decodeStruct(
  value: JsonObject,
  gvk: GroupVersionKind,
  literals: ReadonlyMap<string, string> = noLiterals,
): Decoded & { error?: string } {
  const struct = structOf(gvk.group, gvk.version, gvk.kind);
  if (struct === undefined) {
    throw badRequest(`no kind "${gvk.kind}" is registered for version "${formatApiVersion(gvk)}"`);
  }
  if (literals.size === 0 && isAsItIs(value, struct)) return { value, unknown: [] };
  const decoder = new Decoder(literals);
  const decoded = decoder.struct(value, struct) as JsonObject;
  const { error, unknown } = decoder;
  return { value: decoded, unknown, ...(error !== undefined && { error }) };
}

/** metadata by itself, as it is read of a custom resource; what it does not know is dropped without a word. */
export function decodeMetadata(value: Json): { value?: Json; error?: string } {
  const struct = structNamed('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  if (struct === undefined) return { value };
  const decoder = new Decoder();
  const [decoded, error] = [decoder.struct(value, struct), decoder.error];
  return { ...(decoded !== undefined && { value: decoded }), ...(error !== undefined && { error }) };
}

/** The 400 of kube-apiserver for a body that its decoder refuses; strict errors are joined by the caller. */
export function cannotHandle({ kind, version }: GroupVersionKind, why: string) {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** The 400 for fieldValidation=Strict. `problems` are unknown and duplicate fields in the order found. */
export function strictError(gvk: GroupVersionKind, problems: readonly string[]) {
  return cannotHandle(gvk, strictProblems(problems));
}

export function strictProblems(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(', ')}`;
}

const noLiterals: ReadonlyMap<string, string> = new Map();

class Decoder {
  readonly #literals: ReadonlyMap<string, string>;
  readonly unknown: string[] = [];
  error: string | undefined;
  /** Where the value is, for unknown fields: keys and indexes. */
  readonly #path: string[] = [];
  /** Where it is in Go's words, for errors: fields only. */
  readonly #fields: string[] = [];
  #owner = '';
  #lenient = 0;

  constructor(literals = noLiterals) {
    this.#literals = literals;
  }

  struct(value: Json, struct: GoStruct): Json | undefined {
    if (!isRecord(value)) return this.#mismatch(value, typeName({ kind: 'struct', struct }));
    if (this.#path.length > maxDepth) return this.#fail('json: exceeded max depth');
    const fields = fieldsOf(struct);
    const result: JsonObject = {};
    const owner = this.#owner;
    // Keys and values apart: pairs would be as many arrays as somebody cares to send.
    const items = Object.values(value as JsonObject);
    for (const [i, name] of Object.keys(value).entries()) {
      const item = items[i] as Json;
      const known = fields.get(name);
      if (known === undefined) {
        if (!struct.typed || (name !== 'apiVersion' && name !== 'kind')) this.#unknownField(name);
        else if (typeof item === 'string') result[name] = item;
        else if (item !== null) this.#badType(item, struct, name);
        continue;
      }
      if (item === null) continue;
      this.#owner = shortName(struct);
      this.#path.push(`.${name}`);
      this.#fields.push(...known.through, name);
      const decoded = this.#value(item, known.field.shape);
      if (decoded !== undefined) result[name] = decoded;
      this.#fields.length -= known.through.length + 1;
      this.#path.pop();
    }
    this.#owner = owner;
    return result;
  }

  #unknownField(name: string): void {
    if (this.#lenient > 0 || this.unknown.length >= maxUnknown) return;
    this.unknown.push(`unknown field ${JSON.stringify(`${this.#path.join('')}.${name}`.slice(1))}`);
  }

  /** Of kind and apiVersion, which Go embeds. */
  #badType(value: Json, struct: GoStruct, name: string): void {
    this.#owner = shortName(struct);
    this.#fields.push('TypeMeta', name);
    this.#mismatch(value, 'string');
    this.#fields.length -= 2;
  }

  #fail(message: string): undefined {
    this.error ??= message;
    return undefined;
  }

  #mismatch(value: Json, type: string): undefined {
    const isTold = isNumber(value) && /^(int|float)/.test(type);
    const number = isTold ? `number ${this.#literal() ?? digits(value)}` : undefined;
    const where =
      this.#fields.length === 0
        ? 'value'
        : `struct field ${this.#lenient > 0 ? 'JSONSchemaProps' : this.#owner}.${this.#fields.join('.')}`;
    return this.#fail(`json: cannot unmarshal ${number ?? jsonType(value)} into Go ${where} of type ${type}`);
  }

  #value(value: Json, shape: GoShape): Json | undefined {
    switch (shape.kind) {
      case 'struct':
        return shape.struct.special === undefined
          ? this.struct(value, shape.struct)
          : this.#special(value, shape.struct);
      case 'list':
        return this.#list(value, shape);
      case 'map':
        return this.#map(value, shape);
      case 'any':
        return value;
      case 'bytes':
        return this.#bytes(value);
      case 'string':
        return typeof value === 'string' ? value : this.#mismatch(value, typeName(shape));
      case 'bool':
        return typeof value === 'boolean' ? value : this.#mismatch(value, typeName(shape));
      case 'double':
        // Go rounds a long integer to the next float64.
        if (typeof value === 'bigint') return Number(value);
        return typeof value === 'number' ? value : this.#mismatch(value, 'float64');
      default: {
        const isOne = isNumber(value) && fits(value, shape.kind) && this.#isInteger();
        return isOne ? value : this.#mismatch(value, typeName(shape));
      }
    }
  }

  #bytes(value: Json): Json | undefined {
    if (typeof value !== 'string') return this.#mismatch(value, '[]uint8');
    const error = base64Error(value);
    return error === undefined ? value : this.#fail(error);
  }

  #list(value: Json, shape: GoShape & { kind: 'list' }): Json | undefined {
    if (!Array.isArray(value)) return this.#mismatch(value, typeName(shape));
    return value.map((item, index) => {
      this.#path.push(`[${index}]`);
      const decoded = item === null ? ofNull(shape.items) : this.#value(item, shape.items);
      this.#path.pop();
      return decoded ?? null;
    });
  }

  #map(value: Json, shape: GoShape & { kind: 'map' }): Json | undefined {
    if (!isRecord(value)) return this.#mismatch(value, typeName(shape));
    const result: JsonObject = {};
    for (const [name, item] of Object.entries(value as JsonObject)) {
      this.#path.push(`.${name}`);
      setOwn(result, name, (item === null ? ofNull(shape.values) : this.#value(item, shape.values)) ?? null);
      this.#path.pop();
    }
    return result;
  }

  #special(value: Json, { special, name }: GoStruct): Json | undefined {
    if (special === undefined) return undefined;
    if (special.startsWith('props-')) return this.#props(value, special);
    if (special === 'int-or-string' && !this.#isInteger()) return this.#mismatch(value, 'int32');
    // Of a quantity counts what is written, of which a double may hold less; where it is written twice, the last.
    const literal = special === 'quantity' && isNumber(value) ? this.#literal() : undefined;
    const read = Number(literal) === Number(value) ? (literal ?? value) : value;
    const error = specialError(special, read);
    if (error === undefined) return read;
    return typeof error === 'string' ? this.#fail(error) : this.#mismatch(value, error.type || name);
  }

  #literal(): string | undefined {
    return literalAt(this.#literals, this.#path);
  }

  #isInteger(): boolean {
    return /^-?\d+$/.test(this.#literal() ?? '0');
  }

  /** Schemas inside a CRD go through decoders of their own, which never report unknown fields. */
  #props(value: Json, special: Special): Json | undefined {
    const props = structNamed('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    if (props === undefined) return value;
    if (special === 'props-or-bool' && !isRecord(value) && typeof value !== 'boolean')
      return this.#fail('boolean or JSON schema expected');
    // What is neither a schema nor a list is there, and empty.
    if (typeof value !== 'object' && special !== 'props-or-bool') return null;
    const owner = this.#owner;
    this.#lenient++;
    const decode = (item: Json): Json => {
      if (special === 'props-or-strings' && Array.isArray(value))
        return typeof item === 'string' ? item : (this.#mismatch(item, 'string') ?? '');
      return item === null ? {} : (this.struct(item, props) ?? null);
    };
    const decoded = Array.isArray(value)
      ? value.map(decode)
      : typeof value === 'object'
        ? decode(value)
        : value;
    this.#lenient--;
    this.#owner = owner;
    return decoded;
  }
}
