import { type Claims, type PublicKey, TokenKey } from './jwt.ts';

/** A private key, PKCS #8 in PEM, and since when it signs; until then it is only known. */
export interface SigningKey {
  pem: string;
  from: number;
}

/** What is known for longer is asked for again: by whoever waits for it, or beside what goes on. */
const freshMs = 1_000;
const staleMs = 10_000;

/** The keys of ServiceAccounts' tokens: the newest that is due signs, all verify. */
export class TokenKeys {
  #keys: { key: TokenKey; from: number }[] = [];
  #byId = new Map<string, TokenKey>();
  readonly #read: (() => Promise<readonly SigningKey[]>) | undefined;
  #readAt = Date.now();

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
    const id = TokenKey.idIn(token);
    if (id === undefined) return undefined;
    if (this.#byId.has(id)) void this.#lookAgain(staleMs);
    else await this.#lookAgain(freshMs);
    return this.#byId.get(id)?.verify(token);
  }

  /** While they cannot be read, those that were are kept. */
  async #lookAgain(oldMs: number): Promise<void> {
    const now = Date.now();
    if (this.#read === undefined || now - this.#readAt < oldMs) return;
    this.#readAt = now;
    const found = await this.#read().catch(() => []);
    if (found.length > 0) this.#take(found);
  }

  #take(keys: readonly SigningKey[]): void {
    const known = new Map(this.#keys.map(({ key }) => [key.pem, key]));
    this.#keys = keys
      .map(({ pem, from }) => ({ key: known.get(pem) ?? new TokenKey(pem), from }))
      .sort((a, b) => b.from - a.from);
    this.#byId = new Map(this.#keys.map(({ key }) => [key.id, key]));
  }

  #signer(): TokenKey {
    const due = this.#keys.find(({ from }) => from <= Date.now()) ?? this.#keys.at(-1);
    if (due === undefined) throw new Error('there is no key to sign tokens with');
    return due.key;
  }
}
