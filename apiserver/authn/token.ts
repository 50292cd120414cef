import { hash } from 'node:crypto';
import type { UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../plugins.ts';
import { bearerToken } from './bearer.ts';

/** Static bearer tokens. Compared by digest, so that timing tells nothing of a token. */
export function tokenAuthenticator(users: ReadonlyMap<string, UserInfo>): Authenticator {
  const byDigest = new Map([...users].map(([token, user]) => [digest(token), user]));
  return (request) => {
    const token = bearerToken(request);
    return token === undefined ? undefined : byDigest.get(digest(token));
  };
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
