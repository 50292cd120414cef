import { posix } from 'node:path';
import { decodeJson } from '../../kube/json.ts';
import { badRequest, type StatusError } from '../../kube/status.ts';

const version = 'meta.k8s.io/v1';

/** What a continue token carries: the revision of the first page, and the last key that was handed out. */
export interface Continue {
  revision: number;
  after: string;
}

/**
 * In kube-apiserver's form: the key to go on from, below the collection's `prefix`; after a key comes the same with a
 * zero byte. A token made by one server is good for another that has the same objects.
 */
export function encodeContinue(token: Continue, prefix: string): string {
  const start = `${token.after.slice(prefix.length)}\0`;
  const json = JSON.stringify({ v: version, rv: token.revision, start });
  return Buffer.from(json).toString('base64url');
}

/** Throws StatusError 400 for what is no token, or leads out of the collection (`prefix`). */
export function decodeContinue(text: string, prefix: string): Continue {
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  if (wrong >= 0) throw notValid(`illegal base64 data at input byte ${wrong}`);
  let parsed: unknown;
  try {
    parsed = decodeJson(Buffer.from(text, 'base64url')).value;
  } catch (error) {
    throw notValid(error instanceof Error ? error.message : String(error));
  }
  const { v, rv, start } = (parsed ?? {}) as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== version) throw notValid(`server does not recognize this encoded version ${String(v ?? '')}`);
  if (rv !== undefined && (typeof rv !== 'number' || !Number.isSafeInteger(rv))) {
    throw notValid(`json: cannot unmarshal ${typeof rv} into Go struct field continueToken.rv of type int64`);
  }
  if (!rv) throw notValid(`incorrect encoded start resourceVersion (version ${version})`);
  if (typeof start !== 'string' || start === '')
    throw notValid(`encoded start key empty (version ${version})`);
  const path = start.startsWith('/') ? start : `/${start}`;
  // What leads upwards would reach another collection, or another logical cluster.
  if (posix.normalize(path) !== path || path.endsWith('/')) throw notValid(start);
  return { revision: Math.max(rv, -1), after: before(prefix + path.slice(1)) };
}

/** The key after which `key` is the first. */
function before(key: string): string {
  if (key.endsWith('\0')) return key.slice(0, -1);
  return `${key.slice(0, -1)}${String.fromCharCode(key.charCodeAt(key.length - 1) - 1)}\uffff`;
}

function notValid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
