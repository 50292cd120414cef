import { isPath, newLogicalClusterId } from '../../cluster/logical.ts';
import { type Entry, prefixRange, type Range, type Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { internalPrefix } from '../registry/keys.ts';
import { endWhatWasLeft } from './leftovers.ts';
import { pages } from './pages.ts';
import { type Known, rewritten } from './rewrite.ts';

/** Which id a path was given, until nothing has that path any more. */
const idsPrefix = `${internalPrefix}migration/`;
const all: Range = { start: '', end: '\x7f' };
const atOnce = 64;

/**
 * Keys of paths become keys of ids, objects say what the new format says of them. Each step may be found half done:
 * what is there already is not done again.
 */
export async function moveToIds(store: Store): Promise<{ moved: number; changed: number }> {
  const ids = await chooseIds(store);
  const known: Known = { ids, namespaces: await namespaceUids(store, ids) };
  await endWhatWasLeft(store, ids);
  const count = { moved: 0, changed: 0 };
  for await (const entries of pages(store, all)) {
    for (let i = 0; i < entries.length; i += atOnce) {
      await Promise.all(entries.slice(i, i + atOnce).map((entry) => carryEntry(store, entry, known, count)));
    }
  }
  for await (const entries of pages(store, prefixRange(idsPrefix))) {
    for (const { key, revision } of entries) await store.delete(key, revision);
  }
  return count;
}

/** Of every path that is in a key, and of those above it. Written before the first key is moved. */
async function chooseIds(store: Store): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for await (const entries of pages(store, prefixRange(idsPrefix))) {
    for (const { key, value } of entries) {
      ids.set(key.slice(idsPrefix.length), Buffer.from(value).toString());
    }
  }
  const paths = new Set<string>();
  for await (const entries of pages(store, all)) {
    for (const { key } of entries) for (const path of pathsUpFrom(clusterOf(key))) paths.add(path);
  }
  for (const path of [...paths].sort()) {
    if (ids.has(path)) continue;
    const id = newLogicalClusterId();
    await store.create(`${idsPrefix}${path}`, Buffer.from(id));
    ids.set(path, id);
  }
  return ids;
}

function pathsUpFrom(path: string): string[] {
  const words = path.split(':');
  return words.map((_, i) => words.slice(0, i + 1).join(':')).filter(isPath);
}

/** In the former format; empty for what is not of it. */
function clusterOf(key: string): string {
  return key.startsWith(internalPrefix) ? '' : (key.split('/')[3] ?? '');
}

/** By logical cluster's id and name. */
async function namespaceUids(store: Store, ids: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const uids = new Map<string, string>();
  for await (const entries of pages(store, prefixRange('/core/namespaces/'))) {
    for (const entry of entries) {
      const cluster = clusterOf(entry.key);
      const { name, uid } = decodeStored(entry).metadata;
      if (uid !== undefined) uids.set(`${ids.get(cluster) ?? cluster}/${name}`, uid);
    }
  }
  return uids;
}

async function carryEntry(
  store: Store,
  entry: Entry,
  known: Known,
  count: { moved: number; changed: number },
): Promise<void> {
  const { key, value } = rewritten(entry, known);
  if (key === entry.key) {
    if (value === entry.value) return;
    await store.update(key, value, entry.revision);
    count.changed++;
    return;
  }
  if ((await store.get(key)) === undefined) await store.create(key, value);
  await store.delete(entry.key, entry.revision);
  count.moved++;
}
