import type { Exchange } from '../core.ts';
import { collectionRange } from '../registry/keys.ts';

const objectsPerSeat = 100;

/**
 * How many seats a request takes: one, but for what lists, a seat for each hundred objects that there are or that it asks for
 * at most. Where the objects are not in this process's memory, only what is asked for counts.
 */
export function seatsOf({ core, info }: Exchange, widest: number): number {
  if (widest === 1 || !info.isResource || !lists(info)) return 1;
  const limit = Number(info.query.get('limit')) || Infinity;
  if (limit <= objectsPerSeat) return 1;
  const served = core.catalog.stored(info.cluster, info.group, info.resource);
  const range = served && collectionRange(served.info, info.cluster, info.namespace);
  const there = (range && core.store.count?.(range)) ?? (limit === Infinity ? 1 : limit);
  return Math.max(1, Math.min(widest, Math.ceil(Math.min(limit, there) / objectsPerSeat)));
}

/** A watch begins with a list unless it says from where. */
function lists({ verb, name, selected, query }: Exchange['info']): boolean {
  if (name !== '' || selected !== undefined) return false;
  if (verb === 'list') return true;
  if (verb !== 'watch') return false;
  const from = query.get('resourceVersion');
  return from === null || from === '' || from === '0' || query.get('sendInitialEvents') === 'true';
}
