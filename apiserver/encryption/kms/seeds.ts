import { seeded } from '../aesgcm.ts';
import { nameOf, read } from './header.ts';
import type { Service } from './service.ts';

type Cipher = ReturnType<typeof seeded>;

/** One for each start of each process that wrote, and each key: far fewer than this. */
const most = 10_000;
const seedBytes = 32;
/** So long the next ones hear what the last one heard: a plugin that hangs is not asked for every value. */
const failedMs = 1000;

/** Seeds that a plugin decrypted; of too many, those that were used last. */
export class Seeds {
  readonly #service: Service;
  readonly #onSize: (size: number) => void;
  readonly #ciphers = new Map<string, Cipher>();
  readonly #asked = new Map<string, Promise<void>>();

  constructor(service: Service, onSize: (size: number) => void) {
    this.#service = service;
    this.#onSize = onSize;
  }

  get(head: Uint8Array): Cipher | undefined {
    const name = nameOf(head);
    const cipher = this.#ciphers.get(name);
    if (cipher !== undefined) {
      this.#ciphers.delete(name);
      this.#ciphers.set(name, cipher);
    }
    return cipher;
  }

  put(head: Uint8Array, cipher: Cipher): void {
    for (const oldest of this.#ciphers.keys()) {
      if (this.#ciphers.size < most) break;
      this.#ciphers.delete(oldest);
    }
    this.#ciphers.set(nameOf(head), cipher);
    this.#onSize(this.#ciphers.size);
  }

  /** Has the plugin decrypt it, once for all who ask at a time. Rejects with Error. */
  learn(head: Uint8Array): Promise<void> {
    const name = nameOf(head);
    const known = this.#asked.get(name);
    if (known !== undefined) return known;
    const asking = this.#learn(head);
    this.#asked.set(name, asking);
    const forget = () => this.#asked.delete(name);
    asking.then(forget, () => setTimeout(forget, failedMs).unref());
    return asking;
  }

  async #learn(head: Uint8Array): Promise<void> {
    const { keyId, seed: ciphertext, annotations } = read(head);
    const seed = await this.#decrypted({ keyId, ciphertext, annotations });
    if (seed.length < seedBytes) {
      throw new Error(`invalid seed length ${seed.length} used for key generation`);
    }
    this.put(head, seeded(seed));
  }

  async #decrypted(question: Parameters<Service['decrypt']>[0]): Promise<Uint8Array> {
    try {
      return await this.#service.decrypt(question);
    } catch (cause) {
      throw new Error(`failed to decrypt DEK, error: ${(cause as Error).message}`, { cause });
    }
  }
}
