import { badRequest } from '../../kube/status.ts';

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
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: illegal data');
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
