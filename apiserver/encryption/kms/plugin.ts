import { createHash, randomBytes } from 'node:crypto';
import type { KmsConfiguration } from '../../../kube/encryption/types.ts';
import { seeded } from '../aesgcm.ts';
import { type Provider, Unlearned } from '../transformer.ts';
import { aggregate, cut, keyIdOf, written, wrongKeyId } from './header.ts';
import type { Status } from './proto.ts';
import { Seeds } from './seeds.ts';
import { type OnCall, Service } from './service.ts';

/** How the plugin does, under kube-apiserver's names of metrics. */
export interface PluginObserver {
  called(provider: string, ...call: Parameters<OnCall>): void;
  invalidKeyId(provider: string, error: 'empty' | 'too_long'): void;
  cached(provider: string, seeds: number): void;
}

interface Writing {
  readonly keyId: string;
  /** Before each value. */
  readonly head: Buffer;
  readonly cipher: ReturnType<typeof seeded>;
  /** Of the plugin's clock: beyond, nothing is written with it. */
  expires: number;
}

/** As kube-apiserver does: how long an answer about its health counts, and how long a seed is written with after the last good one. */
const healthyMs = 20_000;
const unhealthyMs = 3000;
const writesMs = 3 * 60_000;
const seedBytes = 32;

/**
 * A KMS v2 plugin as a provider: values are sealed with a seed of this process that the plugin encrypts, once for each of
 * its keys; what others wrote opens once the plugin has decrypted their seed. `check` is to be called again and again.
 */
export class Plugin implements Provider {
  readonly prefix: Uint8Array;
  readonly name: string;
  readonly endpoint: string;
  readonly #service: Service;
  readonly #observer: PluginObserver;
  readonly #seeds: Seeds;
  readonly #now: () => number;
  #writing: Writing | undefined;
  #version: string | undefined;
  #last: { until: number; error?: Error } | undefined;
  #asking: Promise<void> | undefined;

  /** @param now milliseconds of a clock that nobody sets: what is known of it for a while neither lasts nor ends because of that. */
  constructor(kms: KmsConfiguration, observer: PluginObserver, now: () => number = () => performance.now()) {
    this.name = kms.name;
    this.endpoint = kms.endpoint;
    this.prefix = Buffer.from(`atoll:enc:kms:v2:${kms.name}:`);
    this.#observer = observer;
    this.#now = now;
    this.#service = new Service(kms, (...call) => observer.called(kms.name, ...call));
    this.#seeds = new Seeds(this.#service, (size) => observer.cached(kms.name, size));
  }

  seal(plain: Uint8Array, bound: Uint8Array): Uint8Array[] {
    const writing = this.#writing;
    if (writing === undefined) {
      const why = this.#last?.error?.message ?? 'it was not asked yet';
      throw new Error(`kms provider ${this.name} gave no key to write with: ${why}`);
    }
    const now = this.#now();
    if (now > writing.expires) {
      const [expired, current] = [writing.expires - now, 0].map((ms) => shownTime(Date.now() + ms));
      const hash = hashOf(writing.keyId);
      throw new Error(
        `encryptedDEKSource with keyID hash "${hash}" expired at ${expired} (current time is ${current})`,
      );
    }
    return [writing.head, ...writing.cipher.seal(plain, bound)];
  }

  open(stored: Uint8Array, bound: Uint8Array): Uint8Array {
    const { head, sealed } = cut(stored);
    const cipher = this.#writing?.head.equals(head) ? this.#writing.cipher : this.#seeds.get(head);
    if (cipher === undefined) throw new Unlearned(() => this.#seeds.learn(head));
    return cipher.open(sealed, bound);
  }

  isCurrent(stored: Uint8Array): boolean {
    const writing = this.#writing;
    if (writing === undefined) return true;
    const { head } = cut(stored);
    return writing.head.equals(head) || keyIdOf(head) === writing.keyId;
  }

  /** Asks how it is, unless it was asked just now, and changes the seed with its key. Rejects with what is wrong. */
  async check(): Promise<void> {
    if (this.#last === undefined || this.#now() >= this.#last.until) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    if (this.#last.error) throw this.#last.error;
  }

  /** What was asked is answered; nothing is any more. */
  close(): Promise<void> {
    return this.#service.close();
  }

  async #ask(): Promise<void> {
    try {
      await this.#judge(await this.#status());
      this.#last = { until: this.#now() + healthyMs };
    } catch (error) {
      this.#last = { until: this.#now() + unhealthyMs, error: error as Error };
      throw error;
    }
  }

  async #status(): Promise<Status> {
    try {
      return await this.#service.status();
    } catch (cause) {
      const what = 'failed to perform status section of the healthz check for KMS Provider';
      throw new Error(`${what} ${this.name}, error: ${(cause as Error).message}`, { cause });
    }
  }

  /** A seed for its key is made whatever else it says. */
  async #judge({ version, healthz, keyId }: Status): Promise<void> {
    const wrong: string[] = [];
    if (healthz !== 'ok') wrong.push(`got unexpected healthz status: ${healthz}`);
    if (version !== 'v2' && version !== 'v2beta1') {
      wrong.push(`expected KMSv2 API version v2, got ${version}`);
    } else {
      this.#version ??= version;
      if (this.#version !== version) {
        const first = `initial status response version ${this.#version}`;
        wrong.push(`KMSv2 API version should not change after the ${first}, got ${version}`);
      }
    }
    const invalid = wrongKeyId(keyId);
    if (invalid) {
      this.#observer.invalidKeyId(this.name, invalid.code);
      wrong.push(`got invalid KMSv2 KeyID hash "${hashOf(keyId)}": ${invalid.message}`);
    } else {
      await this.#keep(keyId).catch((error: Error) => wrong.push(error.message));
    }
    if (wrong.length > 0) {
      throw new Error(`kmsv2 Provider ${this.name} is not healthy, error: ${aggregate(wrong)}`);
    }
  }

  /** Goes on with the seed, or with another one if the key is another. What fails leaves the seed until it expires. */
  async #keep(keyId: string): Promise<void> {
    const expires = this.#now() + writesMs;
    if (this.#writing?.keyId === keyId) {
      this.#writing.expires = expires;
      return;
    }
    const made = await this.#made(expires).catch((error: Error) => error);
    if (made instanceof Error || made.keyId !== keyId) {
      const why = made instanceof Error ? made.message : '<nil>';
      const encrypted = made instanceof Error ? '' : hashOf(made.keyId);
      const hashes = `statusKeyIDHash="${hashOf(keyId)}", encryptKeyIDHash="${encrypted}"`;
      const state = this.#writing ? hashOf(this.#writing.keyId) : '';
      throw new Error(`failed to rotate DEK errGen=${why}, ${hashes}, stateKeyIDHash="${state}"`);
    }
    this.#seeds.put(made.head, made.cipher);
    this.#writing = made;
  }

  async #made(expires: number): Promise<Writing> {
    const seed = randomBytes(seedBytes);
    const answer = await this.#service.encrypt(seed).catch((cause: Error) => {
      throw new Error(`failed to encrypt DEK, error: ${cause.message}`, { cause });
    });
    const { keyId, ciphertext, annotations } = answer;
    return { keyId, head: written({ keyId, seed: ciphertext, annotations }), cipher: seeded(seed), expires };
  }
}

function hashOf(keyId: string): string {
  return keyId === '' ? '' : `sha256:${createHash('sha256').update(keyId).digest('hex')}`;
}

function shownTime(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');
}
