import type { Authenticator } from '../options.ts';

/**
 * A verified client certificate: the common name is the user, the organisations its groups.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
 */
export const certificateAuthenticator: Authenticator = (_request, peer) => {
  const subject = peer.certificate?.subject as { CN?: string | string[]; O?: string | string[] } | undefined;
  const name = [subject?.CN ?? []].flat()[0];
  if (!name) return undefined;
  return { name, groups: [...[subject?.O ?? []].flat(), 'system:authenticated'] };
};
