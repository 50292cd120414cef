import type { UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../plugins.ts';

/**
 * A verified client certificate: the common name is the user, the organisations its groups.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
 */
export const certificateAuthenticator: Authenticator = (_request, { certificate }) => {
  if (certificate === undefined) return undefined;
  if (!known.has(certificate)) known.set(certificate, userOf(certificate.subject));
  return known.get(certificate);
};

/** A connection's certificate says the same for as long as it lasts. */
const known = new WeakMap<object, UserInfo | undefined>();

function userOf(subject: { CN?: string | string[]; O?: string | string[] }): UserInfo | undefined {
  const name = [subject.CN ?? []].flat()[0];
  if (!name) return undefined;
  return { name, groups: [...[subject.O ?? []].flat(), 'system:authenticated'] };
}
