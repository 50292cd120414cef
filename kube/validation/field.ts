import { quoteGo } from '../quote.ts';
import type { StatusCause } from '../status.ts';
import { isRecord } from '../untyped.ts';

type Value = unknown;

/** Nobody reads more, and a hostile object must not cost more. Of their texts, in characters, the last one whole. */
const causesLimit = 1000;
const textLimit = 1_000_000;

/** encoding/json writes maps in the order of their keys; structs keep theirs, and ours already have it. */
function shown(value: Value): string {
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === undefined) return 'null';
  return JSON.stringify(value, plain).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}

/** Digits beyond 2^53 are not worth a message that fails. */
function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A map in the order of its keys. */
export function sortedMap(value: Value): Value {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * A path into an object, and where the causes about it go. Messages are those of kube-apiserver's field errors.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 */
export class Field {
  readonly causes: StatusCause[];
  readonly #parent: Field | undefined;
  readonly #step: string | number;

  /** Most fields have nothing to complain about: their paths are put together when a cause is. */
  constructor(causes: StatusCause[], step: string | number = '', parent?: Field) {
    this.causes = causes;
    this.#step = step;
    this.#parent = parent;
  }

  get path(): string {
    const step = this.#step;
    const before = this.#parent?.path ?? '';
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' || step.startsWith('[') ? before + step : `${before}.${step}`;
  }

  /** No name starts with a bracket. */
  child(name: string, ...more: string[]): Field {
    let field = new Field(this.causes, name, this);
    for (const next of more) field = new Field(this.causes, next, field);
    return field;
  }

  index(index: number): Field {
    return new Field(this.causes, index, this);
  }

  key(key: string): Field {
    return new Field(this.causes, `[${key}]`, this);
  }

  /** The same path, whose causes go elsewhere. */
  into(causes: StatusCause[]): Field {
    return new Field(causes, this.path);
  }

  internal(detail: string): void {
    this.#add('InternalError', 'Internal error', detail);
  }

  required(detail = ''): void {
    this.#add('FieldValueRequired', 'Required value', detail);
  }

  forbidden(detail: string): void {
    this.#add('FieldValueForbidden', 'Forbidden', detail);
  }

  invalid(value: Value, detail: string): void {
    this.#add('FieldValueInvalid', () => `Invalid value: ${shown(value)}`, detail);
  }

  /** One cause per message of a name check. */
  invalidAll(value: Value, messages: readonly string[]): void {
    for (const message of messages) this.invalid(value, message);
  }

  notSupported(value: Value, supported: readonly string[]): void {
    const list = supported.length > 0 ? `supported values: ${supported.map(quoteGo).join(', ')}` : '';
    this.#add('FieldValueNotSupported', () => `Unsupported value: ${shown(value)}`, list);
  }

  duplicate(value: Value, detail = ''): void {
    this.#add('FieldValueDuplicate', () => `Duplicate value: ${shown(value)}`, detail);
  }

  /** As invalid, without showing objects and lists: they are too large. */
  invalidOf(value: Value, detail: string): void {
    if (typeof value === 'object') this.#add('FieldValueInvalid', 'Invalid value', detail);
    else this.invalid(value, detail);
  }

  duplicateOf(value: Value): void {
    if (typeof value === 'object') this.#add('FieldValueDuplicate', 'Duplicate value');
    else this.duplicate(value);
  }

  notFound(value: Value, detail = ''): void {
    this.#add('FieldValueNotFound', () => `Not found: ${shown(value)}`, detail);
  }

  tooLong(bytes: number): void {
    this.#add(
      'FieldValueTooLong',
      'Too long',
      `may not be more than ${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`,
    );
  }

  tooMany(actual: number, most: number): void {
    this.#add(
      'FieldValueTooMany',
      `Too many: ${actual}`,
      `must have at most ${most} ${most === 1 ? 'item' : 'items'}`,
    );
  }

  /** Whether one more cause would be told. */
  get hasRoom(): boolean {
    if (this.causes.length >= causesLimit) return false;
    return this.causes.reduce((sum, { message }) => sum + (message?.length ?? 0), 0) < textLimit;
  }

  /** A value is written only where there is room for it: each of a long list may show all of it. */
  #add(reason: string, body: string | (() => string), detail = ''): void {
    if (!this.hasRoom) return;
    const told = typeof body === 'string' ? body : body();
    const message = detail === '' ? told : `${told}: ${detail}`;
    this.causes.push({ reason, message, field: this.path === '' ? '<nil>' : this.path });
  }

  /** What was found elsewhere, as far as there is room for it. */
  takeAll(causes: readonly StatusCause[]): void {
    let length = this.causes.reduce((sum, { message }) => sum + (message?.length ?? 0), 0);
    for (const cause of causes) {
      if (this.causes.length >= causesLimit || length >= textLimit) return;
      length += cause.message?.length ?? 0;
      this.causes.push(cause);
    }
  }
}
