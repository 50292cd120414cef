import { shownBy } from '../client/plain-kubeconfig.ts';
import { at } from '../kube/untyped.ts';
import { validityOf } from './certificate-files.ts';

/**
 * Until when a physical cluster takes what its kubeconfig says who we are by: its certificate, its token. In milliseconds since
 * 1970; undefined where neither tells.
 */
export function credentialsUntil(kubeconfig: string): number | undefined {
  const { certificate, token = '' } = shownBy(kubeconfig);
  const ends = [certificate && endOf(certificate), tokenEnd(token)].filter((end) => typeof end === 'number');
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

function endOf(pem: string): number | undefined {
  try {
    return validityOf(pem).until;
  } catch {
    return undefined;
  }
}

/** https://datatracker.ietf.org/doc/html/rfc7519#section-4.1.4; most other tokens last until somebody takes them away. */
function tokenEnd(token: string): number | undefined {
  const [, claims] = /^[^.]+\.([^.]+)\.[^.]*$/.exec(token) ?? [];
  if (claims === undefined) return undefined;
  try {
    const end = at(JSON.parse(Buffer.from(claims, 'base64url').toString()), 'exp');
    return typeof end === 'number' ? end * 1000 : undefined;
  } catch {
    return undefined;
  }
}
