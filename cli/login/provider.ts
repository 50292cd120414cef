import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../errors.ts';

/** Where somebody signs in, and how. */
export interface Provider {
  /** As its tokens name it, to the letter. */
  issuer: string;
  clientId: string;
  /** Beside openid. */
  scopes: readonly string[];
  /** Of PEM: alone trusted for the issuer; else whom this machine trusts. */
  caFile?: string;
  /** On loopback, by http; port 0 is any that is free. */
  redirectUrl: string;
  device: boolean;
  openBrowser: boolean;
  /** Where tokens are kept. */
  cacheDir?: string;
}

/** Of the command line. */
export interface ProviderFlags {
  oidcIssuerUrl: string;
  oidcClientId: string;
  oidcExtraScope?: string[];
  oidcCaFile?: string;
  oidcRedirectUrl?: string;
  device?: boolean;
  skipOpenBrowser?: boolean;
  tokenCacheDir?: string;
}

const anyPort = 'http://127.0.0.1:0/callback';

/** Throws UsageError. */
export function providerOf(flags: ProviderFlags): Provider {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcCaFile, tokenCacheDir } = flags;
  const redirectUrl = flags.oidcRedirectUrl ?? anyPort;
  const [own, to] = [urlOf(issuer), urlOf(redirectUrl)];
  if (own === undefined || !isSafe(own) || own.search !== '' || own.hash !== '' || own.username !== '')
    throw new UsageError(
      `--oidc-issuer-url ${issuer}: expected an https URL, such as https://login.example.com`,
    );
  // It is sent as URLs are written, which have a path; issuers compare to the letter.
  const isExact = to?.href === redirectUrl;
  const isLoopback = to?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(to.hostname);
  if (!isLoopback || !isExact || to.search !== '' || to.hash !== '')
    throw new UsageError(
      `--oidc-redirect-url ${redirectUrl}: expected http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH, as the issuer knows it`,
    );
  return {
    issuer,
    clientId,
    scopes: flags.oidcExtraScope ?? [],
    redirectUrl,
    device: flags.device === true,
    openBrowser: flags.skipOpenBrowser !== true,
    ...(oidcCaFile !== undefined && { caFile: resolve(oidcCaFile) }),
    ...(tokenCacheDir !== undefined && { cacheDir: resolve(tokenCacheDir) }),
  };
}

/** The arguments that lead to the same provider; nothing secret is among them. */
export function argumentsOf(provider: Provider): string[] {
  const { issuer, clientId, scopes, caFile, redirectUrl, device, openBrowser, cacheDir } = provider;
  return [
    ['--oidc-issuer-url', issuer],
    ['--oidc-client-id', clientId],
    ...scopes.map((scope) => ['--oidc-extra-scope', scope]),
    caFile === undefined ? [] : ['--oidc-ca-file', caFile],
    redirectUrl === anyPort ? [] : ['--oidc-redirect-url', redirectUrl],
    device ? ['--device'] : [],
    openBrowser ? [] : ['--skip-open-browser'],
    cacheDir === undefined ? [] : ['--token-cache-dir', cacheDir],
  ].flat();
}

/** Where what was got there is kept: one file for each issuer, client and set of scopes. */
export function sessionFile({ issuer, clientId, scopes, cacheDir }: Provider): string {
  const name = createHash('sha256').update(JSON.stringify([issuer, clientId, [...scopes].sort()]));
  return join(cacheDir ?? join(homedir(), '.kube', 'cache', 'atoll-login'), `${name.digest('hex')}.json`);
}

/** Nobody between can read or change what goes there. */
export function isSafe({ protocol, hostname }: URL): boolean {
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && loopback);
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
