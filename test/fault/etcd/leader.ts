import { setTimeout as sleep } from 'node:timers/promises';
import { type Lease, type Store, StoreError } from '../../../storage/store.ts';
import { encodeValue, type Line, type Recorder } from '../journal.ts';
import { Random } from '../random.ts';

const KEY = '/hot/leader';
const TTL_MS = 2000;

/**
 * Leads by a lease when it can, and writes what it is told to. Now and then it sleeps for longer than its lease lives
 * and goes on writing with its old token, as a paused process would: nothing of that may happen.
 */
export class Leader {
  readonly #store: Store;
  readonly #name: string;
  readonly #record: Recorder;
  readonly #unfenced: boolean;
  /** The token that each value was written with. */
  readonly #tokens = new Map<string, number>();
  #next = 0;
  terms = 0;

  /** `unfenced`: a known bug. */
  constructor(store: Store, name: string, record: Recorder, unfenced: boolean) {
    this.#store = store;
    this.#name = name;
    this.#record = record;
    this.#unfenced = unfenced;
  }

  async run(seed: number, signal: AbortSignal): Promise<void> {
    const random = new Random(seed);
    while (!signal.aborted) {
      const lease = await this.#store.acquire('leader', TTL_MS).catch(() => undefined);
      if (lease !== undefined) await this.#lead(lease, random, signal);
      await sleep(50);
    }
  }

  async #lead(lease: Lease, random: Random, signal: AbortSignal): Promise<void> {
    this.terms++;
    const writes = random.between(5, 60);
    for (let i = 0; i < writes && !signal.aborted; i++) {
      await this.#write(lease);
      if (i % 10 === 9) await lease.keepAlive().catch(() => false);
      await sleep(20);
    }
    if (random.chance(0.5)) return lease.release();
    // Paused, while somebody else leads.
    await sleep(TTL_MS + 1500, undefined, { signal }).catch(() => {});
    for (let i = 0; i < 5; i++) await this.#write(lease);
  }

  async #write(lease: Lease): Promise<void> {
    const id = `${this.#name}.${this.#next++}`;
    const value = id;
    const options = this.#unfenced ? {} : { holding: lease };
    try {
      const there = await this.#store.get(KEY);
      this.#tokens.set(value, lease.token);
      const bytes = encodeValue(value, 40);
      const expected = there?.revision ?? 0;
      this.#record(['call', id, KEY, there ? { op: 'update', value, expected } : { op: 'create', value }]);
      const { revision } = there
        ? await this.#store.update(KEY, bytes, expected, options)
        : await this.#store.create(KEY, bytes, options);
      this.#record(['done', id, { result: 'ok', revision }]);
    } catch (error) {
      this.#record(['lost', id, error instanceof StoreError ? error.code : String(error)]);
    }
  }

  /** In the order of revisions tokens only grow: nobody wrote after its successor. */
  static check(lines: readonly Line[], leaders: readonly Leader[]): string[] {
    const tokens = new Map(leaders.flatMap((leader) => [...leader.#tokens]));
    const failures: string[] = [];
    let newest = 0;
    for (const line of lines) {
      if (line[0] !== 'event' || line[1] !== 'truth' || line[2].key !== KEY) continue;
      const token = tokens.get(line[2].value) ?? 0;
      if (token < newest)
        failures.push(`token ${token} wrote after ${newest}, at revision ${line[2].revision}`);
      newest = Math.max(newest, token);
    }
    return failures;
  }
}
