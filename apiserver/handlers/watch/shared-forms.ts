import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../../storage/store.ts';

/** How many recent events' forms are kept, in two generations of this many. */
const generationSize = 1024;
/**
 * Nor is a generation taken in for longer: whoever has not taken its events by the end of the next one makes forms of its own. Of a server on
 * which little happens that many would be those of hours, and what is written most then is large.
 */
const generationMs = 5_000;

type Forms = Map<string, unknown>;

/**
 * What recent entries look like to watches: made for the first that asks, shared by the others. Keyed by the
 * stored bytes themselves, which no two versions have in common.
 */
export class SharedForms {
  #young = new Map<Uint8Array, Forms>();
  #old = new Map<Uint8Array, Forms>();
  /** While there are any. */
  #ageing: NodeJS.Timeout | undefined;

  bytes(form: string, entry: Entry, make: () => Uint8Array): Uint8Array {
    return this.#get(entry, `${form}@${entry.revision}`, make);
  }

  /** Nobody may change what this answers. */
  decoded(form: string, entry: Entry, make: () => KubeObject): KubeObject {
    return this.#get(entry, `object ${form}@${entry.revision}`, make);
  }

  #get<T>(entry: Entry, form: string, make: () => T): T {
    let forms = this.#young.get(entry.value);
    if (forms === undefined) {
      forms = this.#old.get(entry.value) ?? new Map();
      this.#young.set(entry.value, forms);
      if (this.#young.size > generationSize) this.#age();
      this.#ageing ??= setInterval(() => this.#age(), generationMs).unref();
    }
    const there = forms.get(form);
    if (there !== undefined) return there as T;
    const made = make();
    forms.set(form, made);
    return made;
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Map();
    if (this.#old.size > 0) return;
    clearInterval(this.#ageing);
    this.#ageing = undefined;
  }
}
