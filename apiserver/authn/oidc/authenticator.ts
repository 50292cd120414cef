import { checkTimes, type Jws, parseJws } from '../../../kube/authentication/jws.ts';
import type { AuthenticationConfiguration, JwtAuthenticator } from '../../../kube/authentication/types.ts';
import { TokenError, userFrom } from '../../../kube/authentication/user.ts';
import type { UserInfo } from '../../../kube/http.ts';
import { fetchJson } from './fetch.ts';
import { type FetchJson, KeySet } from './key-set.ts';

export interface JwtOptions {
  /** Told why a token proved nobody. */
  refused?: (issuer: string, why: string) => void;
  fetch?: FetchJson;
}

/** Until when it is so, in milliseconds. */
export interface Proven {
  user: UserInfo;
  until: number;
}

/** Tokens of other issuers, as one configuration has them. A new one starts with no keys. */
export class JwtIssuers {
  readonly #byUrl: ReadonlyMap<string, { jwt: JwtAuthenticator; keys: KeySet }>;
  readonly #options: JwtOptions;

  constructor({ jwt = [] }: AuthenticationConfiguration, options: JwtOptions = {}) {
    this.#options = options;
    const fetch = options.fetch ?? fetchJson;
    this.#byUrl = new Map(
      jwt.map((one) => [one.issuer.url, { jwt: one, keys: new KeySet(one.issuer, fetch) }]),
    );
  }

  /** Undefined: it is of none of them, or proves nobody. */
  async identify(token: string): Promise<Proven | undefined> {
    const jws = parseJws(token);
    const iss = jws?.claims['iss'];
    // Google's older tokens have it so.
    const url = iss === 'accounts.google.com' ? 'https://accounts.google.com' : String(iss);
    const known = this.#byUrl.get(url);
    if (jws === undefined || known === undefined) return undefined;
    try {
      return await proven(jws, known.jwt, known.keys);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#options.refused?.(url, error.message);
      return undefined;
    }
  }
}

async function proven(jws: Jws, jwt: JwtAuthenticator, keys: KeySet): Promise<Proven> {
  checkTimes(jws.claims, jwt.issuer.audiences, Date.now());
  await keys.check(jws);
  return { user: userFrom(jws.claims, jwt), until: Number(jws.claims['exp']) * 1000 };
}
