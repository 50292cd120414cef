import {
  DUMP_SCHEMA,
  defineMappingTag,
  defineScalarTag,
  dump,
  EVENT_ID,
  getScalarValue,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml';
import type { DecodedJson } from './json.ts';
import type { Json, JsonObject } from './object.ts';
import { isRecord, setOwn } from './untyped.ts';
import { YamlError } from './yaml-error.ts';
import { escapeProblem, withoutQuoteEscapes } from './yaml-escapes.ts';
import { resolvePlainScalar } from './yaml-scalar.ts';

export { YamlError } from './yaml-error.ts';

/** What aliases may unfold a document to, in nodes. */
const nodeLimit = 400_000;
const depthLimit = 1000;
/** No more are told of. */
const repeatedLimit = 100;
/** How many characters are read again for scalars in double quotes that escape a single one. */
const quotesLimit = 4_000_000;

type ScalarKind = 'null' | 'boolean' | 'number';

function plainTag(name: string, kind: ScalarKind, firstCharacters: string[]) {
  return defineScalarTag<Json>(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    implicitFirstChars: firstCharacters,
    resolve: (source) => {
      const value = resolvePlainScalar(source);
      const found = value === null ? 'null' : typeof value === 'bigint' ? 'number' : typeof value;
      return value !== undefined && found === kind ? value : NOT_RESOLVED;
    },
    identify: () => false,
  });
}

/** Keys that `<<` brought in, which the mapping's own keys replace without being repeats. */
interface Bookkeeping {
  readonly merged: WeakMap<object, Set<string>>;
  /** The loader asks `has` before a pair only when it merges. */
  asked: { carrier: object; key: string } | undefined;
  anyRepeated: boolean;
}
let books: Bookkeeping;

function note(of: WeakMap<object, Set<string>>, carrier: object, key: string): void {
  const keys = of.get(carrier);
  if (keys) keys.add(key);
  else of.set(carrier, new Set([key]));
}

function addPair(carrier: Record<string, unknown>, rawKey: unknown, value: unknown): string {
  if (typeof rawKey === 'object') {
    return 'unsupported map key: must be a string, a number or a boolean';
  }
  const key = String(rawKey);
  const { asked } = books;
  books.asked = undefined;
  if (asked?.carrier === carrier && asked.key === key) note(books.merged, carrier, key);
  else if (!books.merged.get(carrier)?.delete(key) && Object.hasOwn(carrier, key)) books.anyRepeated = true;
  setOwn(carrier, key, value);
  return '';
}

const plainMapTag = defineMappingTag<Record<string, unknown>>('tag:yaml.org,2002:map', {
  create: () => ({}),
  addPair,
  has: (carrier, key) => {
    books.asked = { carrier, key: String(key) };
    return Object.hasOwn(carrier, String(key));
  },
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => (Object.hasOwn(carrier, String(key)) ? carrier[String(key)] : undefined),
  identify: isRecord,
});

const base64Tag = defineScalarTag<string>('tag:yaml.org,2002:binary', {
  resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
  identify: () => false,
});

const digits = [...'0123456789'];
const goSchema = new Schema([
  strTag,
  seqTag,
  plainMapTag,
  mergeTag,
  base64Tag,
  plainTag('null', 'null', ['', '~', 'n', 'N']),
  plainTag('bool', 'boolean', [...'yYnNtTfFoO']),
  plainTag('int', 'number', [...digits, '+', '-']),
  plainTag('float', 'number', [...digits, '+', '-', '.']),
]);

/**
 * The first document of a YAML text, under the rules of Kubernetes' own YAML reader (YAML 1.1 booleans, 1.2
 * otherwise mostly, no dates). Of keys that are there twice the last value wins; `duplicates` are that reader's words.
 * `quotesLeft` is for itself.
 */
export function decodeYaml(text: string, quotesLeft = quotesLimit): DecodedJson {
  books = { merged: new WeakMap(), asked: undefined, anyRepeated: false };
  let first: unknown;
  try {
    first = loadAll(text, { schema: goSchema, json: true, maxDepth: depthLimit })[0];
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const readable = withoutQuoteEscapes(text, error.mark?.position ?? 0);
    if (readable !== undefined && quotesLeft > 0) return decodeYaml(readable, quotesLeft - text.length);
    throw new YamlError(reasonOf(error), error);
  }
  const refused = escapeProblem(text, depthLimit);
  if (refused) throw new YamlError(onLine(refused.line, refused.reason));
  const duplicates = books.anyRepeated ? repeatedKeys(text) : [];
  const value = text.includes('*') ? unfold(first, { left: nodeLimit }) : (first as Json);
  return { value: value ?? null, duplicates };
}

/** Without the excerpt: it would repeat what was sent. */
function reasonOf({ reason, mark }: YAMLException): string {
  if (reason.startsWith('nesting exceeded')) return 'exceeded max depth of 10000';
  const said = goReasons[reason];
  if (said !== undefined) return onLine(mark?.line ?? 0, said);
  return mark ? `line ${mark.line + 1}: ${reason}` : reason;
}

const goReasons: Readonly<Record<string, string>> = {
  'unknown escape sequence': 'found unknown escape character',
  'expected hexadecimal character': 'did not find expected hexdecimal number',
};

/** Kubernetes' reader does not tell of the first line that it is that. `line`: from 0. */
function onLine(line: number, reason: string): string {
  return line === 0 ? reason : `line ${line + 1}: ${reason}`;
}

interface OpenNode {
  /** Of a mapping: those read so far. */
  readonly keys?: Set<string>;
  isKeyNext: boolean;
}

/** `line 3: key "a" already set in map`, in the order of the text; it is known to be valid. */
function repeatedKeys(text: string): string[] {
  const found: string[] = [];
  const open: OpenNode[] = [];
  let [line, counted] = [1, 0];
  for (const event of parseEvents(text, { maxDepth: depthLimit })) {
    if (event.type === EVENT_ID.POP) {
      open.pop();
      if (open.length === 0 || found.length >= repeatedLimit) break;
      continue;
    }
    const parent = open.at(-1);
    const isKey = parent?.keys !== undefined && parent.isKeyNext;
    if (parent) parent.isKeyNext = !parent.isKeyNext;
    if (event.type === EVENT_ID.SCALAR && isKey) {
      const key = getScalarValue(text, event);
      const isMerge = key === '<<' && event.style === SCALAR_STYLE.PLAIN;
      if (!parent.keys?.has(key) || isMerge) parent.keys?.add(key);
      else {
        for (; counted < event.valueStart; counted++) if (text[counted] === '\n') line++;
        found.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
      }
    } else if (event.type === EVENT_ID.MAPPING) open.push({ keys: new Set(), isKeyNext: true });
    else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.DOCUMENT)
      open.push({ isKeyNext: false });
  }
  return found;
}

/** Aliases become copies: a bomb or a cycle runs out of budget. */
function unfold(value: unknown, budget: { left: number }, depth = 0): Json {
  if (--budget.left < 0 || depth > depthLimit) throw new YamlError('document contains excessive aliasing');
  if (Array.isArray(value)) return value.map((item) => unfold(item, budget, depth + 1));
  if (!isRecord(value)) return value as Json;
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, unfold(item, budget, depth + 1));
  return copy;
}

/** What it reads back it writes plain, and text that looks like it in quotes. */
const bigintTag = defineScalarTag<bigint | number>('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: [...'+-0123456789'],
  resolve: (source) => {
    const value = /^[-+]?\d/.test(source) ? (resolvePlainScalar(source) as unknown) : undefined;
    return typeof value === 'bigint' || Number.isInteger(value) ? (value as bigint | number) : NOT_RESOLVED;
  },
  identify: (value) => typeof value === 'bigint' || Number.isInteger(value),
});
const dumpSchema = new Schema([...DUMP_SCHEMA.tags]);
const bigintDumpSchema = dumpSchema.withTags(bigintTag);

/** Keys sorted, strings quoted where a YAML 1.1 reader would take them for something else. */
export function encodeYaml(value: unknown): string {
  const options = { sortKeys: true, noRefs: true, lineWidth: -1, skipInvalid: true } as const;
  return dump(value, { ...options, schema: hasBigint(value) ? bigintDumpSchema : dumpSchema });
}

function hasBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasBigint);
}
