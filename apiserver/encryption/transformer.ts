/** How one key writes values and reads what it wrote. */
export interface Provider {
  /** How all that it wrote begins; empty: nothing is done to values. */
  readonly prefix: Uint8Array;
  /** Pieces of what follows the prefix. It opens only with the same `bound`. Throws Error: there is no key for it. */
  seal(plain: Uint8Array, bound: Uint8Array): Uint8Array[];
  /** Throws Error; Unlearned where it may be asked for. */
  open(sealed: Uint8Array, bound: Uint8Array): Uint8Array;
  /** Whether it would use the same key for it now; absent: it has but one. */
  isCurrent?(sealed: Uint8Array): boolean;
}

/** The key of a value is not known here. `learn` asks for it, and rejects with why it cannot be had. */
export class Unlearned extends Error {
  readonly learn: () => Promise<void>;

  constructor(learn: () => Promise<void>) {
    super('the key is not known yet');
    this.name = 'Unlearned';
    this.learn = learn;
  }
}

interface Opened {
  readonly value: Uint8Array;
  /** It is not as the first provider would write it. */
  readonly stale: boolean;
}

/** What any provider but identity wrote, here or in kube-apiserver; JSON begins otherwise. */
const marks = [Buffer.from('atoll:enc:'), Buffer.from('k8s:enc:')];

export const identity: Provider = {
  prefix: new Uint8Array(),
  seal: (plain) => [plain],
  open(stored) {
    if (marks.some((mark) => startsWith(stored, mark)))
      throw new Error('identity transformer tried to read encrypted data');
    return stored;
  },
};

interface Known {
  readonly key: string;
  readonly value: Uint8Array;
  /** Which of the providers wrote it. */
  readonly by: number;
}

/** The providers of a kind: the first one writes, all read. */
export class Transformer {
  readonly #providers: readonly Provider[];
  /** By what is stored, as long as that is in memory; it may be read many times. */
  readonly #opened = new WeakMap<Uint8Array, Known>();

  constructor(providers: readonly Provider[]) {
    this.#providers = providers;
  }

  /** What is stored under the key: it opens under no other. Throws Error, which says why not. */
  seal(key: string, plain: Uint8Array): Uint8Array {
    const [first] = this.#providers;
    if (first === undefined || first.prefix.length === 0) return plain;
    const sealed = joined([first.prefix, ...first.seal(plain, Buffer.from(key))]);
    this.#opened.set(sealed, { key, value: plain, by: 0 });
    return sealed;
  }

  /** Throws Error, which says why; Unlearned where it may be asked for. */
  open(key: string, stored: Uint8Array): Opened {
    let known = this.#opened.get(stored);
    // The same bytes under another key are not what was opened.
    if (known?.key !== key) {
      known = this.#open(key, stored);
      this.#opened.set(stored, known);
    }
    return { value: known.value, stale: known.by > 0 || !this.#isCurrent(stored) };
  }

  #isCurrent(stored: Uint8Array): boolean {
    const [first] = this.#providers;
    return first?.isCurrent?.(stored.subarray(first.prefix.length)) ?? true;
  }

  #open(key: string, stored: Uint8Array): Known {
    const bound = Buffer.from(key);
    const wrong = new Set<string>();
    for (const [by, provider] of this.#providers.entries()) {
      const { prefix } = provider;
      if (!startsWith(stored, prefix)) continue;
      try {
        return { key, value: provider.open(stored.subarray(prefix.length), bound), by };
      } catch (error) {
        if (error instanceof Unlearned) throw error;
        // Whatever the first one cannot read, the next one may: two keys of one name.
        if (prefix.length > 0) wrong.add((error as Error).message);
      }
    }
    throw new Error(wrong.size === 0 ? 'no matching prefix found' : [...wrong].join(', '));
  }
}

/** Not a piece of Node's pool: what is stored is kept for long. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function startsWith(value: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, index) => value[index] === byte);
}
