import { isObject } from '../deep.ts';
import { encodeJson } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';

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
  const sorted = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${sorted.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

/** Go's encoder escapes what could end a script in HTML. */
function goJson(value: Json): string {
  const text = encodeJson(value);
  return /[<>&]/.test(text) ? text.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`) : text;
}

/** The canonical element for text read from a client; undefined for kinds of element nobody knows. */
export function parseElement(text: string): PathElement | undefined {
  const body = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
    case 'i:':
      return text;
    case 'v:':
      return valueElement(JSON.parse(body));
    case 'k:': {
      const keys: Json = JSON.parse(body);
      if (!isObject(keys)) throw new SyntaxError(`not an object: ${body}`);
      return keyElement(Object.entries(keys as JsonObject));
    }
    default:
      if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`);
      return undefined;
  }
}

const kindOrder = 'fkvi';

/** Fields before keys before values before indices; numbers numerically. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = a.charAt(0);
  if (kind !== b.charAt(0)) return kindOrder.indexOf(kind) - kindOrder.indexOf(b.charAt(0));
  if (kind === 'f') return a < b ? -1 : a > b ? 1 : 0;
  if (kind === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  const x: Json = JSON.parse(a.slice(2));
  const y: Json = JSON.parse(b.slice(2));
  return kind === 'v' ? compareValues(x, y) : compareKeys(x as JsonObject, y as JsonObject);
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
