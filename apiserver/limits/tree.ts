import { type Bounds, boundsOf, limitsOf } from '../../cluster/limits.ts';
import { isPath } from '../../cluster/logical.ts';
import { rootCluster, workspaces } from '../../cluster/names.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { follow } from '../registry/follow.ts';
import { collectionRange, parseKey } from '../registry/keys.ts';

/** A logical cluster that something bounds. */
export interface Bounded {
  readonly id: string;
  /** By which people know it. */
  readonly path: string;
  readonly bounds: Bounds;
}

interface Place {
  id: string;
  parent: string;
  name: string;
  bounds: Bounds;
}

const stored = { ...workspaces, namespaced: false };
const none: readonly Bounded[] = [];
const mostKnown = 100_000;

/** Which logical cluster is below which, and what each may use: of the Workspaces, which the store tells of. */
export class Tree {
  readonly #defaults: Bounds;
  readonly #places = new Map<string, Place>();
  readonly #idOfKey = new Map<string, string>();
  /** How many places have bounds of their own. */
  #bounding = 0;
  /** Of each that was asked for: itself and those above it, as far as they are bounded. */
  #chains = new Map<string, readonly Bounded[]>();
  /** Told before and after a logical cluster gets another parent, or one at all. */
  onMove: ((id: string, parent: string, sign: 1 | -1) => void) | undefined;

  /** `defaults` bound each logical cluster but root, where its Workspace does not say it. */
  constructor(defaults: Bounds = {}) {
    this.#defaults = defaults;
  }

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    const put = (entry: Entry) => this.put(entry.key, decodeStored(entry));
    const gone = (key: string) => this.put(key, undefined);
    return follow(store, collectionRange(stored, '*', ''), { put, gone }, signal);
  }

  put(key: string, workspace: KubeObject | undefined): void {
    const spec = (workspace?.spec ?? {}) as { cluster?: unknown };
    const id = typeof spec.cluster === 'string' && !isPath(spec.cluster) ? spec.cluster : '';
    const known = this.#idOfKey.get(key);
    if (known !== undefined && known !== id) this.#remove(key, known);
    if (id === '' || workspace === undefined) return;
    const { cluster: parent, name } = parseKey(stored, key);
    const bounds = boundsOf(limitsOf(workspace));
    const before = this.#places.get(id);
    if (before?.parent === parent && before.name === name && deepEqual(before.bounds, bounds)) return;
    if (before) this.#remove(key, id);
    this.#idOfKey.set(key, id);
    this.#places.set(id, { id, parent, name, bounds });
    if (isBounding(bounds)) this.#bounding++;
    this.#chains = new Map();
    this.onMove?.(id, parent, 1);
  }

  #remove(key: string, id: string): void {
    this.#idOfKey.delete(key);
    const place = this.#places.get(id);
    if (!place) return;
    this.onMove?.(id, place.parent, -1);
    this.#places.delete(id);
    if (isBounding(place.bounds)) this.#bounding--;
    this.#chains = new Map();
  }

  /** Undefined for root, and for one that has no Workspace. */
  parentOf(id: string): string | undefined {
    return this.#places.get(id)?.parent;
  }

  /** All whose bounds hold for what is done in a logical cluster: itself first. */
  chain(id: string): readonly Bounded[] {
    if ((this.#bounding === 0 && !isBounding(this.#defaults)) || id === rootCluster) return none;
    const known = this.#chains.get(id);
    if (known !== undefined) return known;
    if (this.#chains.size >= mostKnown) this.#chains = new Map();
    const chain = this.#chainOf(id);
    this.#chains.set(id, chain);
    return chain;
  }

  /** As `chain` has it, bounded or not. */
  one(id: string): Bounded {
    return { id, path: this.#pathOf(id), bounds: this.#boundsOf(id) };
  }

  #chainOf(id: string): readonly Bounded[] {
    const chain: Bounded[] = [];
    for (let at: string | undefined = id; at !== undefined && at !== rootCluster; at = this.parentOf(at)) {
      const one = this.one(at);
      if (isBounding(one.bounds)) chain.push(one);
    }
    return chain;
  }

  #boundsOf(id: string): Bounds {
    if (id === rootCluster || id === '' || id === '*') return {};
    const own = this.#places.get(id)?.bounds ?? {};
    const bounds: Bounds = { ...this.#defaults, ...own };
    // The burst goes with its rate.
    if (own.requestsPerSecond !== undefined && own.requestBurst === undefined) delete bounds.requestBurst;
    return bounds;
  }

  #pathOf(id: string): string {
    const place = this.#places.get(id);
    return place ? `${this.#pathOf(place.parent)}:${place.name}` : id;
  }
}

function isBounding(bounds: Bounds): boolean {
  for (const _ in bounds) return true;
  return false;
}
