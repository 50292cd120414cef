import { isSignedBy, type Jws, keysOf, type VerifyingKey } from '../../../kube/authentication/jws.ts';
import type { JwtAuthenticator } from '../../../kube/authentication/types.ts';
import { TokenError } from '../../../kube/authentication/user.ts';
import { isRecord, text } from '../../../kube/untyped.ts';

export type FetchJson = (url: string, ca: string | undefined) => Promise<unknown>;

/** An issuer is asked no more often, whatever tokens come. */
const pauseMs = 5_000;

/** The keys of one issuer: fetched when the first token comes, and again for one that none of them signed. */
export class KeySet {
  readonly #issuer: JwtAuthenticator['issuer'];
  readonly #fetch: FetchJson;
  readonly #now: () => number;
  #keys: readonly VerifyingKey[] = [];
  /** Where they are, as discovery said. */
  #url: string | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #failure = '';
  #underWay: Promise<void> | undefined;

  constructor(
    issuer: JwtAuthenticator['issuer'],
    fetch: FetchJson,
    now: () => number = () => performance.now(),
  ) {
    this.#issuer = issuer;
    this.#fetch = fetch;
    this.#now = now;
  }

  /** Throws TokenError for what none of them signed. */
  async check(jws: Jws): Promise<void> {
    const signed = () => this.#keys.some((key) => isSignedBy(jws, key));
    if (signed()) return;
    await this.#refresh();
    if (!signed())
      throw new TokenError(this.#failure || 'failed to verify signature: no key of the issuer did it');
  }

  async #refresh(): Promise<void> {
    if (this.#underWay === undefined) {
      if (this.#now() - this.#askedAt < pauseMs) return;
      this.#askedAt = this.#now();
      this.#underWay = this.#load().finally(() => {
        this.#underWay = undefined;
      });
    }
    await this.#underWay;
  }

  /** What was known stays while the issuer does not answer. */
  async #load(): Promise<void> {
    const { certificateAuthority: ca } = this.#issuer;
    try {
      this.#url ??= await this.#discover();
      this.#keys = keysOf(await this.#fetch(this.#url, ca));
      this.#failure = '';
    } catch (error) {
      // It may have moved.
      this.#url = undefined;
      this.#failure = `the keys of ${this.#issuer.url} cannot be fetched: ${(error as Error).message}`;
    }
  }

  async #discover(): Promise<string> {
    const { url, discoveryURL, certificateAuthority: ca } = this.#issuer;
    const document = await this.#fetch(
      discoveryURL || `${url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      ca,
    );
    if (!isRecord(document) || document['issuer'] !== url)
      throw new Error('issuer did not match the issuer returned by provider');
    const keys = text(document['jwks_uri']);
    if (!URL.canParse(keys)) throw new Error('provider did not return JWKS URL');
    return keys;
  }
}
