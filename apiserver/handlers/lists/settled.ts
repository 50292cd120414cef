import type { Entry } from '../../../storage/store.ts';

/** Of how many workloads, in this process. */
const mostSettled = 50_000;

/**
 * Which workloads' histories need not be looked at, by what is known without reading the workload: those of a generation that is shown, or
 * was waited for in vain, and those of which nothing is to come as long as the Placement is as it was. Without the latter each list
 * would read all workloads of a namespace that are on no cluster, however many somebody has made.
 */
export class Settled {
  readonly #most: number;
  readonly #known = new Map<string, string>();

  constructor(most = mostSettled) {
    this.#most = most;
  }

  /** This generation needs no other look. */
  settle(workload: Entry): void {
    this.#keep(workload, generationOf(workload));
  }

  /** Nothing is to come of it, by this Placement or as there is none. */
  leave(workload: Entry, placement: Entry | undefined): void {
    this.#keep(workload, leftAt(workload, placement));
  }

  has(workload: Entry, placement: Entry | undefined): boolean {
    const known = this.#known.get(workload.key);
    return known !== undefined && (known === generationOf(workload) || known === leftAt(workload, placement));
  }

  #keep({ key }: Entry, state: string): void {
    this.#known.delete(key);
    this.#known.set(key, state);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#most) return;
      this.#known.delete(oldest);
    }
  }
}

function leftAt(workload: Entry, placement: Entry | undefined): string {
  return `${generationOf(workload)} by ${placement?.revision}`;
}

const field = Buffer.from('"generation":');

/** Which one's, found in its bytes: the first number of this name is the object's own, whatever its spec has. */
function generationOf({ value, created }: Entry): string {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  for (let at = bytes.indexOf(field); at >= 0; at = bytes.indexOf(field, at + 1)) {
    const from = at + field.length;
    const [digits] = /^\d+/.exec(bytes.toString('latin1', from, from + 20)) ?? [];
    if (digits !== undefined) return `${created} ${digits}`;
  }
  return `${created}`;
}
