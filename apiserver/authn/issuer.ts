import { defaultIssuer, rootCluster } from '../../cluster/names.ts';

export { defaultIssuer };

/** Below each logical cluster's URL. */
export const issuerPaths = {
  configuration: '/.well-known/openid-configuration',
  keys: '/openid/v1/jwks',
} as const;

/** Of one logical cluster: below its URL are its documents, where `base` is the server's own address. */
export function issuerOf(base: string, cluster: string): string {
  return cluster === rootCluster ? base : `${base}/clusters/${cluster}`;
}

/** Whom a token may be for that this server takes. */
export function apiAudiences(base: string, cluster: string): string[] {
  return [...new Set([defaultIssuer, base, issuerOf(base, cluster)])];
}

/** Who may have issued it: before there was one for each logical cluster, or before the setting changed, it was another. */
export function knownIssuers(base: string, cluster: string): string[] {
  return [...new Set([issuerOf(base, cluster), base, issuerOf(defaultIssuer, cluster), defaultIssuer])];
}
