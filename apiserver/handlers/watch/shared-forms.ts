import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../../storage/store.ts';

/** How many recent events' forms are kept, in two generations of this many. */
const generationSize = 1024;

type Forms = Map<string, unknown>;

/**
 * What recent entries look like to watches: made for the first that asks, shared by the others. Keyed by the
 * stored bytes themselves, which no two versions have in common.
 */
export class SharedForms {
  #young = new Map<Uint8Array, Forms>();
  #old = new Map<Uint8Array, Forms>();

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
      if (this.#young.size > generationSize) {
        this.#old = this.#young;
        this.#young = new Map();
      }
    }
    const there = forms.get(form);
    if (there !== undefined) return there as T;
    const made = make();
    forms.set(form, made);
    return made;
  }
}
