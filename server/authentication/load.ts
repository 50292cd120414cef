import type { Authenticator } from '../../apiserver/plugins.ts';
import type { Authentication, LoadOptions } from './types.ts';

/** What is not set is not even imported. Throws UsageError for a file that says what it cannot mean. */
export async function loadAuthentication(options: LoadOptions): Promise<Authentication> {
  const { requestHeader, tokenAuthFile, authenticationConfig } = options.settings;
  const { authenticationTokenWebhookConfigFile: webhook } = options.settings;
  const first: Authenticator[] = [];
  const tokens: Authenticator[] = [];
  const last: Authenticator[] = [];
  if (requestHeader !== undefined) {
    const { requestHeaderAuthenticator } = await import('../../apiserver/authn/request-header.ts');
    first.push(requestHeaderAuthenticator(requestHeader));
  }
  if (tokenAuthFile !== undefined) {
    const { fileTokens } = await import('./token-file.ts');
    tokens.push(await fileTokens(tokenAuthFile, options));
  }
  if (webhook !== undefined) {
    const { askedWebhook } = await import('./webhook.ts');
    last.push(await askedWebhook(webhook, options));
  }
  if (authenticationConfig === undefined) return { first, tokens, last };
  const { configured } = await import('./configuration.ts');
  const { authenticator, anonymous } = await configured(authenticationConfig, options);
  tokens.push(authenticator);
  return { first, tokens, last, anonymous };
}
