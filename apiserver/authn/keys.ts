import { type Claims, type PublicKey, TokenKey } from './jwt.ts';
import { Remembered } from './remembered.ts';

/** A private key, PKCS #8 in PEM, and since when it signs; until then it is only known. */
export interface SigningKey {
  pem: string;
  from: number;
}

/** What is known for longer is asked for again: by whoever waits for it, or beside what goes on. */
const freshMs = 1_000;
/** For a token of a key that another server may just have made. */
const unknownMs = 100;
const staleMs = 10_000;
/** So long a token's signature is not looked at again. What it is bound to is looked at each time. */
const rememberMs = 60_000;

/** The keys of ServiceAccounts' tokens: the newest that is due signs, all verify. */
export class TokenKeys {
  #keys: { key: TokenKey; from: number }[] = [];
  #byId = new Map<string, TokenKey>();
  readonly #read: (() => Promise<readonly SigningKey[]>) | undefined;
  /** Of a clock that nobody sets: a key that was dropped is not to count until that has come to where it was. */
  #readAt = performance.now();
  #reading: Promise<void> | undefined;
  #verified = new Remembered<Claims>();

  /** @param read all of them as they are now, where they may change: another server may have made one. */
  constructor(keys: readonly SigningKey[], read?: () => Promise<readonly SigningKey[]>) {
    this.#read = read;
    this.#take(keys);
  }

  /** That which signs comes first. */
  async publicKeys(): Promise<PublicKey[]> {
    await this.#lookAgain(freshMs);
    const first = this.#signer();
    const others = this.#keys.map(({ key }) => key).filter((key) => key !== first);
    return [first, ...others].map((key) => key.publicKey());
  }

  async sign(claims: Claims): Promise<string> {
    await this.#lookAgain(freshMs);
    return this.#signer().sign(claims);
  }

  /** The claims of a token that one of them signed; times are the caller's to check. */
  async verify(token: string): Promise<Claims | undefined> {
    const before = this.#verified.get(token);
    if (before !== undefined) {
      void this.#lookAgain(staleMs);
      return before;
    }
    const id = TokenKey.idIn(token);
    if (id === undefined) return undefined;
    if (this.#byId.has(id)) void this.#lookAgain(staleMs);
    else await this.#lookAgain(unknownMs);
    const claims = this.#byId.get(id)?.verify(token);
    if (claims !== undefined) this.#verified.put(token, claims, rememberMs);
    return claims;
  }

  /** While they cannot be read, those that were are kept. Whoever comes while they are read waits for that. */
  #lookAgain(oldMs: number): Promise<void> | undefined {
    if (this.#read === undefined || this.#reading !== undefined) return this.#reading;
    const now = performance.now();
    if (now - this.#readAt < oldMs) return undefined;
    this.#readAt = now;
    this.#reading = this.#reread(this.#read).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #reread(read: () => Promise<readonly SigningKey[]>): Promise<void> {
    const found = await read().catch(() => []);
    if (found.length > 0) this.#take(found);
  }

  #take(keys: readonly SigningKey[]): void {
    const known = new Map(this.#keys.map(({ key }) => [key.pem, key]));
    this.#keys = keys
      .map(({ pem, from }) => ({ key: known.get(pem) ?? new TokenKey(pem), from }))
      .sort((a, b) => b.from - a.from);
    const isSame = this.#keys.length === known.size && this.#keys.every(({ key }) => known.has(key.pem));
    // One of them may have been dropped.
    if (!isSame) this.#verified = new Remembered();
    this.#byId = new Map(this.#keys.map(({ key }) => [key.id, key]));
  }

  #signer(): TokenKey {
    const due = this.#keys.find(({ from }) => from <= Date.now()) ?? this.#keys.at(-1);
    if (due === undefined) throw new Error('there is no key to sign tokens with');
    return due.key;
  }
}
