import { encodeJson } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord } from '../untyped.ts';

/**
 * One step of a field path, in the text fieldsV1 uses: `f:name` a field, `k:{"name":"x"}` the list element with
 * these keys, `v:"x"` the set element of this value, `i:0` an index. Equal elements have equal texts.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${goJson(value)}`;
}

/** Keys in any order. */
export function keyElement(keys: readonly (readonly [string, Json])[]): PathElement {
  const [only] = keys;
  if (only && keys.length === 1) return `k:{"${only[0]}":${goJson(only[1])}}`;
  const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

/** Go's encoder escapes what could end a script in HTML. */
const plainText = /^[\w./-]*$/;

function goJson(value: Json): string {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  const text = encodeJson(value);
  return /[<>&]/.test(text) ? text.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`) : text;
}

/** What most elements look like; they need no second look. */
const canonical = /^(?:f:|k:\{"\w+":(?:"[\w./-]*"|[1-9]\d{0,14})\}$)/;

/** The canonical element for text read from a client; undefined for kinds of element nobody knows. */
export function parseElement(text: string): PathElement | undefined {
  if (canonical.test(text)) return text;
  const body = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
    case 'i:':
      return text;
    case 'v:':
      return valueElement(JSON.parse(body));
    case 'k:': {
      const keys: Json = JSON.parse(body);
      if (!isRecord(keys)) throw new SyntaxError(`not an object: ${body}`);
      return keyElement(Object.entries(keys as JsonObject));
    }
    default:
      if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`);
      return undefined;
  }
}

const kindOrder = 'fkvi';

/** Fields before keys before values before indices; numbers numerically. */
export function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const list = [...elements];
  if (list.length < 2) return list;
  if (list.every((element) => element.startsWith('f:'))) return list.sort();
  return list
    .map((element) => ({ element, value: element.startsWith('f:') ? element : JSON.parse(element.slice(2)) }))
    .sort(compareDecoded)
    .map(({ element }) => element);
}

interface Decoded {
  element: PathElement;
  value: Json;
}

function compareDecoded({ element: a, value: x }: Decoded, { element: b, value: y }: Decoded): number {
  const kind = a.charAt(0);
  if (kind !== b.charAt(0)) return kindOrder.indexOf(kind) - kindOrder.indexOf(b.charAt(0));
  return kind === 'k' ? compareKeys(x as JsonObject, y as JsonObject) : compareValues(x, y);
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const x = Object.entries(a);
  const y = Object.entries(b);
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const [nameX = '', valueX = null] = x[i] ?? [];
    const [nameY = '', valueY = null] = y[i] ?? [];
    if (nameX !== nameY) return nameX < nameY ? -1 : 1;
    const order = compareValues(valueX, valueY);
    if (order !== 0) return order;
  }
  return x.length - y.length;
}

const typeOrder = ['number', 'string', 'boolean'];

function compareValues(a: Json, b: Json): number {
  if (typeof a !== typeof b) return typeOrder.indexOf(typeof a) - typeOrder.indexOf(typeof b);
  if (a === null || b === null || a === b) return 0;
  return a < b ? -1 : 1;
}

/** As messages write it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function formatPath(path: readonly PathElement[]): string {
  return path.map(formatElement).join('');
}

export function formatElement(element: PathElement): string {
  const body = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${body}`;
    case 'k': {
      const keys: JsonObject = JSON.parse(body);
      return `[${Object.entries(keys)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${JSON.stringify(JSON.parse(body))}]`;
    default:
      return `[${body}]`;
  }
}
