import type { Range, StoreEvent } from './store.ts';

/** Everything that watches the same range. */
export interface Group<Watcher> {
  readonly range: Range;
  readonly watchers: Set<Watcher>;
}

/** The groups whose common prefix ends in one folder: by how long the prefix is, then by the prefix. */
type Folder<Watcher> = Map<number, Map<string, Map<string, Group<Watcher>>>>;

/**
 * Finds the watchers of a key without asking the others. Each range is filed under the prefix that all its
 * keys share, in the folder (up to the last '/') of that prefix. A key then looks at its own folders only:
 * one per '/' in it, and there once per distinct prefix length.
 */
export class WatchIndex<Watcher> {
  readonly #folders = new Map<string, Folder<Watcher>>();

  add(range: Range, watcher: Watcher): void {
    const prefix = commonPrefix(range);
    const folder: Folder<Watcher> = ensure(this.#folders, folderOf(prefix), () => new Map());
    const sameLength = ensure(folder, prefix.length, () => new Map());
    const groups = ensure(sameLength, prefix, () => new Map());
    ensure(groups, rangeId(range), () => ({ range, watchers: new Set() })).watchers.add(watcher);
  }

  remove(range: Range, watcher: Watcher): void {
    const prefix = commonPrefix(range);
    const name = folderOf(prefix);
    const folder = this.#folders.get(name);
    const sameLength = folder?.get(prefix.length);
    const groups = sameLength?.get(prefix);
    const group = groups?.get(rangeId(range));
    if (!folder || !sameLength || !groups || !group) return;
    group.watchers.delete(watcher);
    if (group.watchers.size === 0) groups.delete(rangeId(range));
    if (groups.size === 0) sameLength.delete(prefix);
    if (sameLength.size === 0) folder.delete(prefix.length);
    if (folder.size === 0) this.#folders.delete(name);
  }

  /** The events of one commit by the group that they concern, in order. */
  batches(commit: readonly StoreEvent[]): Map<Group<Watcher>, StoreEvent[]> {
    const batches = new Map<Group<Watcher>, StoreEvent[]>();
    for (const event of commit) {
      this.match(event.entry.key, (group) => {
        const batch = batches.get(group);
        if (batch === undefined) batches.set(group, [event]);
        else batch.push(event);
      });
    }
    return batches;
  }

  /** Calls `visit` with each group whose range holds `key`. */
  match(key: string, visit: (group: Group<Watcher>) => void): void {
    for (let end = 0; ; end = key.indexOf('/', end) + 1) {
      this.#matchFolder(this.#folders.get(key.slice(0, end)), key, visit);
      if (key.indexOf('/', end) < 0) return;
    }
  }

  #matchFolder(
    folder: Folder<Watcher> | undefined,
    key: string,
    visit: (group: Group<Watcher>) => void,
  ): void {
    if (folder === undefined) return;
    for (const [length, byPrefix] of folder) {
      const groups = length > key.length ? undefined : byPrefix.get(key.slice(0, length));
      if (groups === undefined) continue;
      for (const group of groups.values()) {
        if (key >= group.range.start && key < group.range.end) visit(group);
      }
    }
  }
}

/** The longest string that every key of the range starts with. */
export function commonPrefix({ start, end }: Range): string {
  let length = 0;
  while (length < start.length && length < end.length && start[length] === end[length]) length++;
  // prefixRange: 'a/b/' up to 'a/b0'. Nothing that starts with 'a/b' but not with 'a/b/' fits in between.
  const isPrefixRange = end.length === length + 1 && start.charCodeAt(length) + 1 === end.charCodeAt(length);
  return start.slice(0, isPrefixRange ? length + 1 : length);
}

function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

/** Keys have no NUL but a range's end may; length first keeps two ranges from sharing an id. */
function rangeId(range: Range): string {
  return `${range.start.length}:${range.start}${range.end}`;
}

function ensure<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
