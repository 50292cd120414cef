import type { EtcdOptions } from './etcd/options.ts';
import { openLevel } from './level/level.ts';
import { openMemory } from './memory/memory.ts';
import { type Store, StoreError } from './store.ts';

export interface OpenOptions extends Pick<EtcdOptions, 'logger' | 'signal'> {
  /** Of `level:`; see LevelOptions. */
  memoryBudget?: number;
  reserveBytes?: number;
}

/**
 * Opens the store that a URL names: `memory:`, `level:DIRECTORY` or a bare path, which is `level:` too, or
 * `etcd://HOST:PORT,...` (see etcd/url.ts).
 */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const { memoryBudget, reserveBytes, ...remote } = options;
  const [, scheme = 'level', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return openMemory();
  if (scheme === 'level' && rest !== '') {
    const { logger } = options;
    return openLevel(rest, {
      ...(memoryBudget !== undefined && { memoryBudget }),
      ...(reserveBytes !== undefined && { reserveBytes }),
      ...(logger && {
        logger: {
          info: (text: string) => logger.info({}, text),
          warn: (text: string) => logger.warn({}, text),
        },
      }),
    });
  }
  if (scheme === 'etcd') {
    // Only who uses it pays for loading gRPC.
    const [{ openEtcd }, { etcdOptions }] = await Promise.all([
      import('./etcd/open.ts'),
      import('./etcd/url.ts'),
    ]);
    return openEtcd({ ...(await etcdOptions(rest)), ...remote });
  }
  throw new StoreError(
    'unavailable',
    `no store can be opened by ${JSON.stringify(url)}; known: memory:, level:DIRECTORY, etcd://HOST:PORT,...`,
  );
}
