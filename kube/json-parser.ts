import { unexpectedCharacter } from './json-error.ts';
import { numberAt } from './json-number.ts';
import { stringAt } from './json-string.ts';
import { endOfContainer, joined } from './json-text.ts';
import type { Json, JsonObject } from './object.ts';
import { setOwn } from './untyped.ts';

export const depthLimit = 10_000;
/** Kubernetes stops collecting after this many. */
const duplicatesLimit = 100;
/** Of more numbers than any kind has it is not told how they are written. */
const literalsLimit = 1000;
/** No type of Kubernetes nests deeper, but schemas, which are not told of. */
const toldDepth = 64;
/**
 * Each path is a text of its own, so that one long key would be as many as there are below it: of numbers it is told how
 * they are written where the path to them is no longer, and of keys where theirs is no longer than `longestPath`, and all together than
 * `longestPaths`. The map that keeps a text of more than 16,383 characters tells it from others by its length alone.
 */
export const toldLength = 1024;
const longestPath = 16_000;
const longestPaths = 32 << 20;

export interface Parsed {
  value: Json;
  duplicates: string[];
  /** Where strict, by path as in `duplicates`: how numbers are written of which the value does not tell. */
  literals?: ReadonlyMap<string, string>;
}

/** Called with each key's path, as the text has them, but for those that are too long or too many. */
export type OnKey = (path: string, isRepeated: boolean) => void;

/** Reads a text that begins and ends with its one value, in no more levels than `depth`. */
type Whole = (text: string, depth: number) => Json;
/** Containers that are shorter than a step are looked for as deep as this: each look costs up to a step. */
const wholeDepth = 6;

interface Frame {
  readonly into: Json[] | JsonObject;
  key: string;
}

/**
 * The careful reader behind decodeJson: explicit stack, Go's error texts, exact integers, repeated keys. Used
 * only where JSON.parse would not do, so it is written for exactness before speed.
 */
export class JsonParser {
  #at = 0;
  readonly #stack: Frame[] = [];
  readonly #duplicates = new Set<string>();
  #pathsLength = 0;
  readonly #literals = new Map<string, string>();
  readonly #text: string;
  readonly #strict: boolean;
  readonly #depth: number;
  readonly #onKey: OnKey | undefined;
  #whole: { read: Whole; longest: number } | undefined;

  constructor(text: string, strict: boolean, depth = depthLimit, onKey?: OnKey) {
    this.#text = text;
    this.#strict = strict;
    this.#depth = depth;
    this.#onKey = onKey;
  }

  parse(): Parsed {
    return this.#steps(Number.POSITIVE_INFINITY).next().value as Parsed;
  }

  /** Step by step, of so many characters each but for what is in one string. What is shorter than a step is given to `read`. */
  steps(length: number, read: Whole): Generator<undefined, Parsed> {
    this.#whole = { read, longest: length };
    return this.#steps(length);
  }

  *#steps(length: number): Generator<undefined, Parsed> {
    let due = length;
    let value = this.#openValue();
    for (;;) {
      if (this.#at >= due) {
        due = this.#at + length;
        yield undefined;
      }
      const frame = this.#stack[this.#stack.length - 1];
      if (!frame) break;
      if (value === undefined) {
        value = this.#openValue();
        continue;
      }
      value = this.#close(frame, value);
    }
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('after top-level value');
    const duplicates = [...this.#duplicates];
    return { value: value ?? null, duplicates, ...(this.#literals.size > 0 && { literals: this.#literals }) };
  }

  /** A scalar or a container that is read already; undefined when a container was opened and its first value is due. */
  #openValue(): Json | undefined {
    this.#skipSpace();
    const whole = this.#readWhole();
    if (whole !== undefined) return whole;
    switch (this.#text[this.#at]) {
      case '{': {
        this.#push({ into: {}, key: '' });
        this.#skipSpace();
        if (this.#text[this.#at] === '}') return this.#pop();
        this.#readKey();
        return undefined;
      }
      case '[': {
        this.#push({ into: [], key: '' });
        this.#skipSpace();
        if (this.#text[this.#at] === ']') return this.#pop();
        return undefined;
      }
      case '"':
        return this.#readString();
      case 't':
        return this.#readWord('true', true);
      case 'f':
        return this.#readWord('false', false);
      case 'n':
        return this.#readWord('null', null);
      default:
        return this.#readNumber();
    }
  }

  #readWhole(): Json | undefined {
    if (this.#whole === undefined || this.#stack.length > wholeDepth) return undefined;
    const end = endOfContainer(this.#text, this.#at, this.#at + this.#whole.longest);
    if (end === undefined) return undefined;
    const value = this.#whole.read(this.#text.slice(this.#at, end), this.#depth - this.#stack.length);
    this.#at = end;
    return value;
  }

  /** Stores a finished value; answers the container when that ends too, else undefined. */
  #close(frame: Frame, value: Json): Json | undefined {
    const { into } = frame;
    const array = Array.isArray(into);
    if (array) into.push(value);
    else setOwn(into, frame.key, this.#strict ? joined(into, frame.key, value) : value);
    this.#skipSpace();
    const c = this.#text[this.#at];
    if (c === ',') {
      this.#at++;
      if (!array) this.#readKey();
      return undefined;
    }
    if (c === (array ? ']' : '}')) return this.#pop();
    return this.#fail(array ? 'after array element' : 'after object key:value pair');
  }

  #push(frame: Frame): void {
    if (this.#stack.length >= this.#depth) this.#fail('exceeded max depth');
    this.#stack.push(frame);
    this.#at++;
  }

  #pop(): Json {
    this.#at++;
    return this.#stack.pop()?.into ?? null;
  }

  #readKey(): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== '"') this.#fail('looking for beginning of object key string');
    const key = this.#readString();
    const frame = this.#stack[this.#stack.length - 1];
    if (frame) {
      frame.key = key;
      const isRepeated = this.#strict && Object.hasOwn(frame.into, key);
      if (isRepeated || this.#onKey) this.#noteKey(isRepeated);
    }
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') this.#fail('after object key');
    this.#at++;
  }

  #noteKey(isRepeated: boolean): void {
    const isTold = this.#onKey !== undefined && this.#stack.length <= toldDepth;
    const isNoted = isRepeated && this.#duplicates.size < duplicatesLimit;
    if (!(isTold || isNoted) || this.#pathsLength > longestPaths) return;
    const path = this.#path();
    const isFirst = isNoted && this.#duplicates.size === 0;
    if (path.length > longestPath && !isFirst) return;
    this.#pathsLength += path.length;
    if (isNoted) this.#duplicates.add(path);
    if (isTold) this.#onKey?.(path, isRepeated);
  }

  #path(): string {
    let path = '';
    for (const { into, key } of this.#stack) {
      if (Array.isArray(into)) path += `[${into.length}]`;
      else path += path === '' ? key : `.${key}`;
    }
    return path;
  }

  #readString(): string {
    const { value, end } = stringAt(this.#text, this.#at);
    this.#at = end;
    return value;
  }

  #readNumber(): Json {
    const { value, end } = numberAt(this.#text, this.#at);
    if (this.#strict) this.#noteNumber(this.#text.slice(this.#at, end), value);
    this.#at = end;
    return value;
  }

  #noteNumber(literal: string, value: Json): void {
    if (literal === String(value) && !literal.includes('e')) return;
    if (this.#stack.length > toldDepth || this.#literals.size >= literalsLimit) return;
    const path = this.#path();
    if (path.length <= toldLength) this.#literals.set(path, literal);
  }

  #readWord<T extends Json>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      if (this.#text[this.#at + i] === word[i]) continue;
      this.#at += i;
      this.#fail(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at += word.length;
    return value;
  }

  #skipSpace(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
  }

  #fail(context: string): never {
    throw unexpectedCharacter(this.#text, this.#at, context);
  }
}
