import type { UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../plugins.ts';

/**
 * A verified client certificate: the common name is the user, the organisations its groups.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
 */
export const certificateAuthenticator: Authenticator = (_request, { certificate }) => {
  if (certificate === undefined) return undefined;
  let found = known.get(certificate);
  if (found === undefined) {
    found = { user: userOf(certificate.subject), until: Date.parse(certificate.valid_to ?? '') };
    known.set(certificate, found);
  }
  // A connection may outlast it.
  return found.until < Date.now() ? undefined : found.user;
};

/** A connection's certificate says the same for as long as it lasts. */
const known = new WeakMap<object, { user: UserInfo | undefined; until: number }>();

function userOf(subject: { CN?: string | string[]; O?: string | string[] }): UserInfo | undefined {
  const name = [subject.CN ?? []].flat()[0];
  if (!name) return undefined;
  return { name, groups: [...[subject.O ?? []].flat(), 'system:authenticated'] };
}
