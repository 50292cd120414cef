import { readFile } from 'node:fs/promises';
import type { Logger } from '../kube/log.ts';
import type { Store } from '../storage/store.ts';
import { UsageError } from './errors.ts';
import { followFile } from './follow-file.ts';
import type { Settings } from './settings.ts';

/** Of a store, what the API is to be served from. */
type Encryption = (store: Store) => Store;

/** By the file that `encryption-provider-config` names; what is not set is not even imported. Throws UsageError. */
export async function loadEncryption(parts: {
  settings: Settings;
  signal: AbortSignal;
  logger: Logger;
}): Promise<Encryption> {
  const { settings, signal, logger } = parts;
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reload } = settings;
  if (file === undefined) return (store) => store;
  const [{ Rules }, { encryptedStore }, { readConfiguration }] = await Promise.all([
    import('../apiserver/encryption/rules.ts'),
    import('../apiserver/encryption/store.ts'),
    import('../kube/encryption/configuration.ts'),
  ]);
  const read = (text: string) => new Rules(readConfiguration(text));
  let text = '';
  let now: InstanceType<typeof Rules>;
  try {
    text = await readFile(file, 'utf8');
    now = read(text);
  } catch (error) {
    throw new UsageError(`--encryption-provider-config ${file}: ${(error as Error).message}`);
  }
  const changed = (next: string) => {
    now = read(next);
  };
  if (reload) void followFile({ file, text, signal, logger, changed });
  return (store) => encryptedStore(store, () => now, sayOnce(logger));
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
