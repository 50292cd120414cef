import { anonymousBy } from '../../apiserver/authn/anonymous.ts';
import { bearerToken } from '../../apiserver/authn/bearer.ts';
import { defaultIssuer } from '../../apiserver/authn/issuer.ts';
import { JwtIssuers } from '../../apiserver/authn/oidc/authenticator.ts';
import { Remembered } from '../../apiserver/authn/remembered.ts';
import type { Authenticator } from '../../apiserver/plugins.ts';
import { readConfiguration } from '../../kube/authentication/configuration.ts';
import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { UsageError } from '../errors.ts';
import { followFile } from '../follow-file.ts';
import type { LoadOptions } from './types.ts';

/** For how long a token that was verified is not verified again. */
const rememberMs = 10_000;

interface Configured {
  authenticator: Authenticator;
  anonymous: (request: ApiRequest) => UserInfo | undefined;
}

/** By the file that `authentication-config` names, as it is now and will be. Throws UsageError. */
export async function configured(
  file: string,
  { settings, files, signal, logger }: LoadOptions,
): Promise<Configured> {
  const refused = (issuer: string, why: string) => logger.debug({ issuer, why }, 'a token was refused');
  const read = (text: string) => {
    const configuration = readConfiguration(text, [settings.serviceAccountIssuer, defaultIssuer]);
    const issuers = new JwtIssuers(configuration, { refused });
    return { issuers, known: new Remembered<UserInfo>(), anonymous: anonymousBy(configuration.anonymous) };
  };
  let text = '';
  let now: ReturnType<typeof read>;
  try {
    text = await files.read(file);
    now = read(text);
  } catch (error) {
    throw new UsageError(`--authentication-config ${file}: ${(error as Error).message}`);
  }
  void followFile({
    file,
    text,
    files,
    signal,
    logger,
    changed: (next) => {
      now = read(next);
    },
  });
  return {
    authenticator(request) {
      const token = bearerToken(request);
      if (token === undefined) return undefined;
      const { issuers, known } = now;
      return known.get(token) ?? remember(issuers, known, token);
    },
    anonymous: (request) => now.anonymous(request),
  };
}

async function remember(
  issuers: JwtIssuers,
  known: Remembered<UserInfo>,
  token: string,
): Promise<UserInfo | undefined> {
  const proven = await issuers.identify(token);
  if (proven) known.put(token, proven.user, rememberMs, proven.until);
  return proven?.user;
}
