import type { UserInfo } from '../../kube/http.ts';
import { type Logger, silentLogger } from '../../kube/log.ts';
import type { Authenticator } from '../plugins.ts';
import { scopesExtra } from './impersonate.ts';

/**
 * A verified client certificate: the common name is the user, the organisations its groups. An organisational unit
 * `cluster:<id>` says of which logical cluster they are: in any other they are nobody. Once for each connection that outlasts
 * its certificate, that is told to `logger`.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
 */
export function certificateAuthenticator(logger: Pick<Logger, 'info'> = silentLogger): Authenticator {
  /** A connection's certificate says the same for as long as it lasts. */
  const known = new WeakMap<object, { user: UserInfo | undefined; until: number }>();
  return ({ headers }, { certificate }) => {
    if (certificate === undefined || isOfAnotherPage(headers)) return undefined;
    let found = known.get(certificate);
    if (found === undefined) {
      found = { user: userOf(certificate.subject), until: Date.parse(certificate.valid_to ?? '') };
      known.set(certificate, found);
    }
    // A connection may outlast it.
    if (found.user !== undefined && found.until < Date.now()) {
      const until = new Date(found.until).toISOString();
      logger.info({ user: found.user.name, until }, 'a client certificate has expired');
      found.user = undefined;
    }
    return found.user;
  };
}

/**
 * A browser shows its user's certificate whatever page asks, and says which page that is. Behind `kubectl proxy` the page is
 * the proxy's own, which only `sec-fetch-site` tells.
 */
function isOfAnotherPage(headers: Readonly<Record<string, string>>): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== `https://${host}`;
}

type Named = Partial<Record<'CN' | 'O' | 'OU', string | string[]>>;

function userOf({ CN = [], O = [], OU = [] }: Named): UserInfo | undefined {
  const [name] = [CN].flat();
  if (!name) return undefined;
  const groups = [...[O].flat(), 'system:authenticated'];
  const scopes = [OU].flat().filter((unit) => unit.startsWith('cluster:'));
  return { name, groups, ...(scopes.length > 0 && { extra: { [scopesExtra]: scopes } }) };
}
