import { decodeJson } from '../../kube/json.ts';
import { badRequest, type StatusError } from '../../kube/status.ts';

/** What a continue token carries: the revision of the first page, and the last key that was handed out. */
export interface Continue {
  revision: number;
  after: string;
}

export function encodeContinue(token: Continue): string {
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after });
  return Buffer.from(json).toString('base64url');
}

/** Throws StatusError 400 for a token that this server did not make for this collection (`prefix`). */
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
  if (v !== 'meta.k8s.io/v1') {
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version "${v}"`,
    );
  }
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || (rv < 1 && rv !== -1)) {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion',
    );
  }
  if (typeof start !== 'string' || !start.startsWith(prefix)) {
    throw badRequest('invalid continue token: continue key is not valid: incorrect encoded start key');
  }
  return { revision: rv, after: start };
}

function notValid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
