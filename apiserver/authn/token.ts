import type { UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../plugins.ts';
import { bearerOf, digestOf } from './bearer.ts';

/** Static bearer tokens. Compared by digest, so that timing tells nothing of a token. */
export function tokenAuthenticator(users: ReadonlyMap<string, UserInfo>): Authenticator {
  const byDigest = new Map([...users].map(([token, user]) => [digestOf(token), user]));
  return (request, peer) => {
    const shown = bearerOf(request, peer);
    return shown && byDigest.get(shown.digest);
  };
}
