import type { Rules } from '../apiserver/encryption/rules.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { Store } from '../storage/store.ts';
import { Plugins } from './encryption-plugins.ts';
import { UsageError } from './errors.ts';
import { followFile, NotYet } from './follow-file.ts';
import { EncryptionMetrics } from './metrics/encryption.ts';
import type { Family } from './metrics/family.ts';
import type { Settings } from './settings.ts';
import type { TakenFiles } from './taken-files.ts';

export interface Encryption {
  /** Of a store, what the API is to be served from. */
  over(store: Store): Store;
  /** Checks by their names; absent where nothing of it can fail. */
  readonly health?: Readonly<Record<string, () => Promise<void>>>;
  families(): Family[];
}

/** How long new plugins may take to be healthy before what was before is kept; then they are asked again. */
const graceMs = 10_000;
const everyMs = 100;

/**
 * By the file that `encryption-provider-config` names; what is not set is not even imported. Plugins are asked once
 * before it resolves, healthy or not, and then again and again until `signal` aborts. Throws UsageError.
 */
export async function loadEncryption(parts: {
  settings: Settings;
  files: TakenFiles;
  signal: AbortSignal;
  logger: Logger;
}): Promise<Encryption> {
  const { settings, files, signal, logger } = parts;
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reload } = settings;
  if (file === undefined) return { over: (store) => store, families: () => [] };
  const [{ Rules }, { encryptedStore }, { readConfiguration }, { unknownResources }] = await Promise.all([
    import('../apiserver/encryption/rules.ts'),
    import('../apiserver/encryption/store.ts'),
    import('../kube/encryption/configuration.ts'),
    import('./encryption-unknown.ts'),
  ]);
  const metrics = new EncryptionMetrics();
  const read = async (text: string) => {
    const configuration = readConfiguration(text);
    const unknown = unknownResources(configuration);
    if (unknown.length > 0)
      logger.warn({ file, resources: unknown }, 'what is to be encrypted names kinds that there are not');
    const plugins = await Plugins.of(configuration, { metrics, logger, signal });
    return { rules: new Rules(configuration, plugins.named), plugins };
  };
  let text = '';
  let now: { rules: Rules; plugins: Plugins };
  try {
    text = await files.read(file);
    now = await read(text);
  } catch (error) {
    throw new UsageError(`--encryption-provider-config ${file}: ${(error as Error).message}`);
  }
  const changed = async (next: string) => {
    const fresh = await read(next);
    await healthy(fresh.plugins, signal);
    const { plugins } = now;
    now = fresh;
    plugins.close();
  };
  if (reload) void followFile({ file, text, files, signal, logger, changed });
  const watched = reload || now.plugins.any;
  return {
    over: (store) => encryptedStore(store, () => now.rules, sayOnce(logger)),
    ...(watched && { health: { 'kms-providers': () => now.plugins.check() } }),
    families: () => (watched ? metrics.families() : []),
  };
}

/** What was before is kept until the new ones are: else nothing could be written. Throws NotYet. */
async function healthy(plugins: Plugins, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + graceMs;
  for (;;) {
    try {
      return await plugins.check();
    } catch (cause) {
      if (Date.now() < deadline && !signal.aborted) {
        await sleep(everyMs, signal);
        continue;
      }
      plugins.close();
      throw new NotYet(`health check for new transformers failed: ${(cause as Error).message}`, { cause });
    }
  }
}

const mostSaid = 1000;

/** Of each key once; of very many, of the first. */
function sayOnce(logger: Logger): (key: string) => void {
  const said = new Set<string>();
  return (key) => {
    if (said.size >= mostSaid || said.has(key)) return;
    said.add(key);
    logger.error({ key }, 'a stored value cannot be decrypted');
  };
}
