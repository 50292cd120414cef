import * as oidc from 'openid-client';
import { FailedError } from '../errors.ts';
import { authorityOf } from './authority.ts';
import { boundedFetch } from './fetch.ts';
import { isSafe, type Provider } from './provider.ts';
import type { Session } from './session.ts';

/** The issuer takes the refresh token no more: somebody must sign in. */
export class EndedError extends FailedError {}

/** An issuer that was found to be who it is said to be, and this client of it. */
export interface Issuer {
  config: oidc.Configuration;
  provider: Provider;
  clientSecret: string | undefined;
}

/** Throws FailedError, UsageError. */
export async function discover(provider: Provider, clientSecret: string | undefined): Promise<Issuer> {
  const { issuer, clientId, caFile } = provider;
  const fetch = boundedFetch(await authorityOf('--oidc-ca-file', caFile));
  const url = new URL(issuer);
  const execute = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
  const options = { [oidc.customFetch]: fetch, execute };
  return told(issuer, async () => {
    const found = (await oidc.discovery(url, clientId, undefined, oidc.None(), options)).serverMetadata();
    // The library lets some be others; Kubernetes lets nobody.
    if (found.issuer !== issuer)
      throw new FailedError(
        `${issuer} says that it is ${plain(found.issuer)}: name that one by --oidc-issuer-url`,
      );
    const config = new oidc.Configuration(found, clientId, undefined, authentication(found, clientSecret));
    config[oidc.customFetch] = fetch;
    for (const allow of execute) allow(config);
    return { config, provider, clientSecret };
  });
}

/** As the issuer can: in the header, unless it says that it takes it in the body. */
function authentication(found: oidc.ServerMetadata, secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const methods = found.token_endpoint_auth_methods_supported ?? [];
  return methods.includes('client_secret_post')
    ? oidc.ClientSecretPost(secret)
    : oidc.ClientSecretBasic(secret);
}

/** What is asked for: what may be refreshed, where the issuer knows such a thing. */
export function scopeOf({ config, provider }: Issuer): string {
  const supported = config.serverMetadata().scopes_supported ?? [];
  const offline = supported.includes('offline_access') ? ['offline_access'] : [];
  return [...new Set(['openid', ...offline, ...provider.scopes])].join(' ');
}

/** Throws FailedError; EndedError where the token is good no more. */
export async function refreshed(issuer: Issuer, session: Session): Promise<Session> {
  const { config, provider } = issuer;
  const { refreshToken = '' } = session;
  return told(provider.issuer, async () => {
    const tokens = await oidc.refreshTokenGrant(config, refreshToken).catch((error: unknown) => {
      if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
        throw new EndedError(said(provider.issuer, error));
      throw error;
    });
    const next = sessionOf(issuer, tokens);
    if (next.subject !== session.subject)
      throw new FailedError(`${provider.issuer} gave a token of somebody else than who signed in`);
    return { refreshToken, ...next };
  });
}

/** False: the issuer takes none back. Throws FailedError. */
export function revoked({ config, provider }: Issuer, refreshToken: string): Promise<boolean> {
  const { revocation_endpoint: endpoint } = config.serverMetadata();
  return told(provider.issuer, async () => {
    if (endpoint === undefined) return false;
    await oidc.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' });
    return true;
  });
}

/** Throws FailedError. */
export function sessionOf(
  { provider, clientSecret }: Issuer,
  tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
): Session {
  const claims = tokens.claims();
  if (tokens.id_token === undefined || claims === undefined)
    throw new FailedError(`${provider.issuer} gave no ID token, which Kubernetes needs`);
  return {
    idToken: tokens.id_token,
    issued: claims.iat,
    expires: claims.exp,
    subject: claims.sub,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
}

/** Where somebody is sent. Throws FailedError. */
export function safeUrl(issuer: string, url: string): string {
  if (URL.canParse(url) && isSafe(new URL(url))) return new URL(url).href;
  throw new FailedError(`${issuer} sends to an address that is no https: ${plain(url)}`);
}

/** Its failures become FailedErrors, without causes: those hold what the issuer answered, tokens too. */
export async function told<T>(issuer: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof FailedError) throw error;
    throw new FailedError(said(issuer, error));
  }
}

function said(issuer: string, error: unknown): string {
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) {
    const { error: code, error_description: why } = error;
    return `${issuer} refused: ${plain(why === undefined ? code : `${code} (${why})`)}`;
  }
  const code = error instanceof oidc.ClientError && error.code !== undefined ? ` (${error.code})` : '';
  return `${issuer}: ${plain((error as Error).message)}${code}`;
}

/** What somebody else wrote, for a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ').slice(0, 300);
}
