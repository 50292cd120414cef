import { openMemory } from './memory/memory.ts';
import { type Store, StoreError } from './store.ts';

/** Opens the store that a URL names: `memory:`, `level:DIRECTORY`, or a bare path, which is `level:` too. */
export async function openStore(url: string): Promise<Store> {
  const [, scheme = 'level', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return openMemory();
  throw new StoreError(
    'unavailable',
    `${JSON.stringify(rest)} is not in a known kind of store (${scheme}); known: memory:, level:DIRECTORY`,
  );
}
