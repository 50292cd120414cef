import type { Store } from '../store.ts';
import { Connection } from './connection.ts';
import { EtcdStore } from './etcd.ts';
import { Keys } from './keys.ts';
import type { EtcdOptions } from './options.ts';
import { followSecrets } from './secrets.ts';

/**
 * A store that any number of servers share, none of them special. Revisions are etcd's own: other writers' lie
 * between ours. Writes go to etcd, reads come from a cache after etcd confirmed that it lacks nothing.
 * Fails with `unavailable` when etcd does not answer. etcd 3.5.8 or later.
 */
export async function openEtcd(options: EtcdOptions): Promise<Store> {
  const connection = new Connection(options);
  const stop = (): void => connection.stop();
  options.signal?.addEventListener('abort', stop, { once: true });
  const store = new EtcdStore(connection, new Keys(options.prefix), options);
  try {
    await store.load();
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  void followSecrets(connection, options);
  if (options.signal?.aborted) await store.close();
  options.signal?.addEventListener('abort', () => void store.close(), { once: true });
  return store;
}
