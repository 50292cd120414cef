import { openLevel } from './level/level.ts';
import { openMemory } from './memory/memory.ts';
import { type Store, StoreError } from './store.ts';

/** Opens the store that a URL names: `memory:`, `level:DIRECTORY`, or a bare path, which is `level:` too. */
export async function openStore(url: string): Promise<Store> {
  const [, scheme = 'level', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return openMemory();
  if (scheme === 'level' && rest !== '') return openLevel(rest);
  throw new StoreError(
    'unavailable',
    `no store can be opened by ${JSON.stringify(url)}; known: memory:, level:DIRECTORY`,
  );
}
