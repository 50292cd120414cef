import type { Plugin, PluginObserver } from '../apiserver/encryption/kms/plugin.ts';
import { sleep } from '../kube/clock.ts';
import type { EncryptionConfiguration, KmsConfiguration } from '../kube/encryption/types.ts';
import type { Logger } from '../kube/log.ts';

/** As kube-apiserver asks them. */
const healthyMs = 60_000;
const unhealthyMs = 10_000;

interface Around {
  metrics: PluginObserver;
  logger: Logger;
  signal: AbortSignal;
}

/** The KMS plugins of one configuration. */
export class Plugins {
  readonly #all: readonly Plugin[];
  readonly #stop = new AbortController();

  private constructor(all: readonly Plugin[]) {
    this.#all = all;
  }

  /** Resolves when each was asked how it is once, whatever it said; until `signal` aborts or `close`, it is asked again. */
  static async of({ resources }: EncryptionConfiguration, around: Around): Promise<Plugins> {
    const all = resources.flatMap(({ providers }) => providers.flatMap(({ kms }) => (kms ? [kms] : [])));
    if (all.length === 0) return new Plugins([]);
    const { Plugin } = await import('../apiserver/encryption/kms/plugin.ts');
    const plugins = new Plugins(all.map((kms) => new Plugin(kms, around.metrics)));
    around.signal.addEventListener('abort', () => plugins.close(), { once: true });
    await Promise.all(plugins.#all.map((plugin) => plugins.#follow(plugin, around.logger)));
    return plugins;
  }

  get any(): boolean {
    return this.#all.length > 0;
  }

  readonly named = ({ name }: KmsConfiguration): Plugin => {
    const found = this.#all.find((plugin) => plugin.name === name);
    if (found === undefined) throw new Error(`there is no KMS provider ${name}`);
    return found;
  };

  /** Rejects with what is wrong with the first that is not healthy. */
  async check(): Promise<void> {
    for (const plugin of this.#all) await plugin.check();
  }

  /** What was asked is answered. */
  close(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    for (const plugin of this.#all) void plugin.close();
  }

  async #follow(plugin: Plugin, logger: Logger): Promise<void> {
    const first = await asked(plugin, logger, true);
    void this.#askAgain(plugin, logger, first);
  }

  async #askAgain(plugin: Plugin, logger: Logger, first: boolean): Promise<void> {
    const { signal } = this.#stop;
    let well = first;
    for (;;) {
      await sleep(well ? healthyMs : unhealthyMs, signal);
      if (signal.aborted) return;
      well = await asked(plugin, logger, well);
    }
  }
}

/** Whether it is healthy; says so where it `was` otherwise. */
async function asked(plugin: Plugin, logger: Logger, was: boolean): Promise<boolean> {
  const { name, endpoint } = plugin;
  try {
    await plugin.check();
    if (!was) logger.info({ name }, 'the KMS plugin is healthy again');
    return true;
  } catch (err) {
    if (was) logger.error({ name, endpoint, err }, 'the KMS plugin is not healthy');
    return false;
  }
}
