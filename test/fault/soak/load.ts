import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { within } from '../../../kube/within.ts';
import { Random } from '../random.ts';

const OBJECTS = 1000;
const PER_SECOND = 250;
const TICK_MS = 100;
export const WATCHERS = 30;
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const namespace = 'default';

/** 250 operations a second on a thousand ConfigMaps, and watchers that come and go, until the signal aborts. */
export class SoakLoad {
  operations = 0;
  /** What was due while a second's worth of operations was under way. */
  skipped = 0;
  /** What was answered otherwise than an operation may be that others race with. */
  readonly failures: string[] = [];
  readonly #client: Client;
  readonly #random: Random;
  readonly #under = new Set<Promise<void>>();

  constructor(client: Client, seed: number) {
    this.#client = client;
    this.#random = new Random(seed);
  }

  async fill(): Promise<void> {
    for (let i = 0; i < OBJECTS; i++) await this.#client.create(configMaps, configMap(`soak-${i}`));
  }

  async run(signal: AbortSignal): Promise<void> {
    const watchers = Array.from({ length: WATCHERS }, (_, i) => this.#watch(i, signal));
    const begin = performance.now();
    for (let due = 0; !signal.aborted; await sleep(TICK_MS)) {
      const until = ((performance.now() - begin) / 1000) * PER_SECOND;
      // A server that is slow for a while is not asked for all that it missed.
      for (; due < until; due++) {
        if (this.#under.size < PER_SECOND) this.#begin();
        else this.skipped++;
      }
    }
    await Promise.all([...watchers, ...this.#under]);
  }

  #begin(): void {
    const one = this.#operate()
      .then(
        () => void this.operations++,
        (error: unknown) => {
          const raced = isStatusError(error) && [404, 409].includes(error.code);
          if (!raced) this.failures.push(String(error));
        },
      )
      .finally(() => this.#under.delete(one));
    this.#under.add(one);
  }

  async #operate(): Promise<unknown> {
    const random = this.#random;
    const name = `soak-${random.below(OBJECTS)}`;
    const dice = random.below(100);
    if (dice < 20) return this.#client.get(configMaps, { namespace, name });
    if (dice < 22) return this.#client.list(configMaps, { namespace, limit: 500 });
    if (dice < 65) {
      const data = { counter: String(random.bits()) };
      return this.#client.patch(configMaps, { namespace, name }, 'merge', { data });
    }
    if (dice < 75) return this.#client.delete(configMaps, { namespace, name });
    return this.#client.create(configMaps, configMap(name));
  }

  /** One watch after the other, each for a few seconds. */
  async #watch(index: number, signal: AbortSignal): Promise<void> {
    const random = new Random(index, 1);
    while (!signal.aborted) {
      await within(random.between(2000, 10_000), signal, async (here) => {
        try {
          const { resourceVersion } = (await this.#client.list(configMaps, { namespace })).metadata;
          for await (const _ of this.#client.watch(configMaps, { namespace, resourceVersion, signal: here }));
        } catch (error) {
          if (!here.aborted) this.failures.push(`watch: ${error}`);
        }
      });
    }
  }
}

function configMap(name: string): KubeObject {
  const labels = { app: 'soak' };
  const data = { payload: 'x'.repeat(500), counter: '0' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
}
