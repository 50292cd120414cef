import { jsonType } from '../go-words.ts';
import { literalAt } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord, setOwn } from '../untyped.ts';
import { maxDepth } from './exact.ts';
import { fieldsOf, shortName } from './fields.ts';
import { type GoShape, type GoStruct, structNamed } from './go.ts';
import { base64Error, digits, fits, isNumber, specialError, typeName } from './mismatch.ts';
import { ofNull } from './null.ts';
import type { Special } from './table.ts';

/** kube-apiserver reports no more unknown fields than these for one object. */
const maxUnknown = 100;

export const noLiterals: ReadonlyMap<string, string> = new Map();

/** One value as Go's JSON decoder takes it; what it says of that is told by `error` and `unknown`. */
export class Decoder {
  readonly #literals: ReadonlyMap<string, string>;
  readonly unknown: string[] = [];
  /** The first that Go goes on after, and what a type's own decoder says, which ends it. */
  #first: string | undefined;
  #last: string | undefined;
  /** Where the value is, for unknown fields: keys and indexes. */
  readonly #path: string[] = [];
  /** Where it is in Go's words, for errors: fields only. */
  readonly #fields: string[] = [];
  #owner = '';
  #lenient = 0;

  constructor(literals = noLiterals) {
    this.#literals = literals;
  }

  get error(): string | undefined {
    return this.#last ?? this.#first;
  }

  struct(value: Json, struct: GoStruct): Json | undefined {
    if (!isRecord(value)) return this.#mismatch(value, typeName({ kind: 'struct', struct }));
    if (this.#path.length > maxDepth) return this.#end('json: exceeded max depth');
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
    this.#first ??= message;
    return undefined;
  }

  /** After which nothing else counts. */
  #end(message: string): undefined {
    this.#last ??= message;
    return undefined;
  }

  #mismatch(value: Json, type: string): undefined {
    return this.#fail(this.#mismatched(value, type));
  }

  #mismatched(value: Json, type: string): string {
    const isTold = isNumber(value) && /^(int|float)/.test(type);
    const number = isTold ? `number ${this.#literal() ?? digits(value)}` : undefined;
    const where =
      this.#fields.length === 0
        ? 'value'
        : `struct field ${this.#lenient > 0 ? 'JSONSchemaProps' : this.#owner}.${this.#fields.join('.')}`;
    return `json: cannot unmarshal ${number ?? jsonType(value)} into Go ${where} of type ${type}`;
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
    if (special === 'int-or-string' && !this.#isInteger()) return this.#end(this.#mismatched(value, 'int32'));
    // Of a quantity counts what is written, of which a double may hold less; where it is written twice, the last.
    const literal = special === 'quantity' && isNumber(value) ? this.#literal() : undefined;
    const read = Number(literal) === Number(value) ? (literal ?? value) : value;
    const error = specialError(special, read);
    if (error === undefined) return read;
    return this.#end(typeof error === 'string' ? error : this.#mismatched(value, error.type || name));
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
      return this.#end('boolean or JSON schema expected');
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
