import * as oidc from 'openid-client';
import { openBrowser } from './browser.ts';
import { type Issuer, plain, safeUrl, scopeOf, sessionOf, told } from './issuer.ts';
import { awaitRedirect } from './redirect.ts';
import type { Session } from './session.ts';

/** As kubelogin waits. */
const timeoutMs = 180_000;

/** Somebody signs in, now. `say`: to them, on no channel that anybody parses. Throws FailedError. */
export function signIn(issuer: Issuer, say: (line: string) => void): Promise<Session> {
  return told(issuer.provider.issuer, () =>
    issuer.provider.device ? byDevice(issuer, say) : byBrowser(issuer, say),
  );
}

/** https://www.rfc-editor.org/rfc/rfc8252, with PKCE. */
async function byBrowser(issuer: Issuer, say: (line: string) => void): Promise<Session> {
  const { config, provider } = issuer;
  const [pkceCodeVerifier, expectedState, expectedNonce] = [
    oidc.randomPKCECodeVerifier(),
    oidc.randomState(),
    oidc.randomNonce(),
  ];
  const redirect = await awaitRedirect(provider.redirectUrl, expectedState, timeoutMs);
  try {
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirect.url,
      scope: scopeOf(issuer),
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const to = safeUrl(provider.issuer, url.href);
    say(`Sign in at ${to}`);
    if (provider.openBrowser) openBrowser(to);
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    return sessionOf(issuer, await oidc.authorizationCodeGrant(config, await redirect.came, checks));
  } finally {
    redirect.close();
  }
}

/** https://www.rfc-editor.org/rfc/rfc8628 */
async function byDevice(issuer: Issuer, say: (line: string) => void): Promise<Session> {
  const { config, provider } = issuer;
  const device = await oidc.initiateDeviceAuthorization(config, { scope: scopeOf(issuer) });
  const at = safeUrl(provider.issuer, device.verification_uri);
  say(`Sign in at ${at} with the code ${plain(device.user_code)}`);
  if (device.verification_uri_complete !== undefined)
    say(`or at ${safeUrl(provider.issuer, device.verification_uri_complete)}`);
  return sessionOf(issuer, await oidc.pollDeviceAuthorizationGrant(config, device));
}
