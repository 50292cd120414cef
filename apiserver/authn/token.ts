import { hash } from 'node:crypto';
import type { UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../options.ts';

/** Static bearer tokens. Compared by digest, so that timing tells nothing of a token. */
export function tokenAuthenticator(users: ReadonlyMap<string, UserInfo>): Authenticator {
  const byDigest = new Map([...users].map(([token, user]) => [digest(token), user]));
  return (request) => {
    const match = /^bearer +(\S+) *$/i.exec(request.headers['authorization'] ?? '');
    return match?.[1] === undefined ? undefined : byDigest.get(digest(match[1]));
  };
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
