/** Who asked for it first went: others ask anew. */
export class Left extends Error {}

/** How much is kept, in bytes. */
const most = 16 * 1024 * 1024;

/** What webhooks made of stored objects, for those who watch them: each is asked for once. The oldest go first. */
export class Forms {
  readonly #made = new Map<string, { value: Promise<Uint8Array>; bytes: number }>();
  #bytes = 0;

  get(id: string): Promise<Uint8Array> | undefined {
    return this.#made.get(id)?.value;
  }

  /** What fails is not kept. */
  set(id: string, value: Promise<Uint8Array>): void {
    const form = { value, bytes: id.length };
    this.#made.set(id, form);
    this.#bytes += form.bytes;
    value.then(
      ({ length }) => {
        if (this.#made.get(id) !== form) return;
        form.bytes += length;
        this.#bytes += length;
        this.#trim();
      },
      () => {
        if (this.#made.get(id) === form) this.#drop(id, form.bytes);
      },
    );
  }

  #trim(): void {
    for (const [id, { bytes }] of this.#made) {
      if (this.#bytes <= most) return;
      this.#drop(id, bytes);
    }
  }

  #drop(id: string, bytes: number): void {
    this.#made.delete(id);
    this.#bytes -= bytes;
  }
}
