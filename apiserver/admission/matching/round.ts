import { deepEqual } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { AdmissionRequest } from '../../plugins.ts';

/** After a first round of those who change an object: what a second one needs. */
export interface Round {
  /** True when the object is another one now: what ran before may want to see it. */
  changed: boolean;
  again(request: AdmissionRequest): Promise<void>;
}

/** Who is asked again: those of `reinvocationPolicy: IfNeeded` for whom the object has changed since. */
export class Session {
  changed = false;
  readonly #asked = new Set<string>();
  readonly #due = new Set<string>();

  asked(id: string): void {
    this.#asked.add(id);
  }

  isDue(id: string): boolean {
    return this.#due.has(id);
  }

  /** Whoever was asked before saw another object. */
  becomeDue(): void {
    for (const id of this.#asked) this.#due.add(id);
    this.#asked.clear();
  }

  didChange(): void {
    this.becomeDue();
    this.changed = true;
  }

  /** `repeat` asks those that are due. */
  round(object: KubeObject | undefined, repeat: Round['again']): Round {
    const output = this.#asked.size + this.#due.size > 0 ? structuredClone(object) : undefined;
    return {
      changed: this.changed,
      again: async (next) => {
        if (this.#asked.size + this.#due.size === 0) return;
        if (!deepEqual(output, next.object)) this.becomeDue();
        if (this.#due.size > 0) await repeat(next);
      },
    };
  }
}
