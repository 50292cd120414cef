import { isPath } from '../../cluster/logical.ts';
import { rootCluster, workspaces } from '../../cluster/names.ts';
import type { Later } from '../../kube/later.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { decodeStored } from './codec.ts';
import { follow } from './follow.ts';
import { collectionRange, objectKey } from './keys.ts';

const stored = { ...workspaces, namespaced: false };
const everywhere = collectionRange(stored, '*', '');

/**
 * Which logical cluster a path leads to: `root:a:b` is the Workspace b in the Workspace a in root. Fed from the store,
 * so that every server knows what any of them made; what it does not know is looked up there.
 */
export class Paths {
  readonly #store: Store;
  /** Of each Workspace, by its key: the id of its logical cluster, and when that was said. */
  readonly #ids = new Map<string, { id: string | undefined; revision: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(signal: AbortSignal): Promise<void> {
    const put = (entry: Entry) => this.#learn(entry.key, idOf(entry), entry.revision);
    const gone = (key: string) => void this.#ids.delete(key);
    const listed = (there: ReadonlySet<string>, revision: number) => {
      for (const [key, known] of this.#ids) if (known.revision <= revision && !there.has(key)) gone(key);
    };
    return follow(this.#store, everywhere, { put, gone, listed }, signal);
  }

  /**
   * The id that a path, or an id, stands for; `*` for itself. Undefined: the path leads nowhere. Whether something is
   * at that id is another question.
   */
  resolve(name: string): Later<string | undefined> {
    if (!isPath(name)) return name;
    let id: string | undefined;
    for (const part of name.split(':')) {
      id = id === undefined ? part : this.#ids.get(keyOf(id, part))?.id;
      if (id === undefined) return this.lookUp(name);
    }
    return id ?? this.lookUp(name);
  }

  /** As the store has it now: another server may have made it, or made it anew, a moment ago. */
  async lookUp(path: string): Promise<string | undefined> {
    const [first = rootCluster, ...names] = path.split(':');
    let id: string | undefined = first;
    for (const name of names) {
      const key: string = keyOf(id, name);
      const entry: Entry | undefined = await this.#store.get(key);
      if (entry === undefined) {
        this.#ids.delete(key);
        return undefined;
      }
      id = idOf(entry);
      this.#learn(key, id, entry.revision);
      if (id === undefined) return undefined;
    }
    return id;
  }

  /** What is older than known is left out: the watch tells what was looked up once more. */
  #learn(key: string, id: string | undefined, revision: number): void {
    const known = this.#ids.get(key);
    if (known === undefined || known.revision < revision) this.#ids.set(key, { id, revision });
  }
}

function keyOf(parent: string, name: string): string {
  return objectKey(stored, parent, '', name);
}

/** Undefined until the Workspace has its logical cluster. */
function idOf(entry: Entry): string | undefined {
  const { cluster } = (decodeStored(entry).spec ?? {}) as { cluster?: unknown };
  return typeof cluster === 'string' && cluster !== '' && !isPath(cluster) ? cluster : undefined;
}
