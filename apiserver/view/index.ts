import type { Peer } from '../../cluster/peers.ts';
import { slicesStored } from '../../cluster/slices.ts';
import type { ObjectRef, Placement } from '../../cluster/types.ts';
import type { Entry, Range, Store, StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { collectionRange } from '../registry/keys.ts';
import { listEntries } from '../registry/rewrite.ts';
import { Beside } from './beside.ts';
import { Controlled } from './controlled.ts';
import { Departures } from './departures.ts';
import { FormerTemplates, hasTemplates } from './former-templates.ts';
import { Owned, type Place, placeOf, saysTheSame } from './owned.ts';
import { type NamespacePlace, placementsStored } from './places.ts';
import { SlicesIn } from './slices-in.ts';
import { enter, leave, tally } from './tally.ts';
import { Waiting } from './waiting.ts';

/** Kinds of any group are placed: one watch over all keys keeps them in one order. */
export const everything: Range = { start: '/', end: '0' };
export const everyPlacement = { resource: placementsStored, cluster: '*', namespace: '' };
export const allPlacements = collectionRange(placementsStored, '*', '').start;
const allSlices = collectionRange(slicesStored, '*', '').start;

export interface Listener {
  /** An event of a placement of the cluster, which nobody may change, or of an object that one names. */
  event(event: StoreEvent, placement: Placement | undefined): void;
  /** The index cannot go on; nothing follows. */
  onEnd(reason: unknown): void;
}

/**
 * Which placements a physical cluster has shares of, and which objects they name: one for all syncers of a server,
 * fed once from the store, whoever wrote there, so that each of them hears of its own only. Nothing is read before
 * somebody asks; what ended is read anew by whoever asks next.
 */
export class ShareIndex {
  readonly #store: Store;
  readonly #signal: AbortSignal;
  #fed: Promise<Fed> | undefined;

  /** @param signal ends it. */
  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
  }

  /** Resolves when it knows all that was there by then; rejects when the store cannot be read. */
  ready(): Promise<Fed> {
    if (this.#fed !== undefined) return this.#fed;
    const fed = new Fed(this.#store, () => this.#forget(begun));
    const begun: Promise<Fed> = fed.follow(this.#signal).then(
      () => fed,
      (error) => {
        this.#forget(begun);
        throw error;
      },
    );
    this.#fed = begun;
    return begun;
  }

  #forget(ended: Promise<Fed>): void {
    if (this.#fed === ended) this.#fed = undefined;
  }
}

/** One life of the index: from a reading of the store to the end of the watch after it. */
export class Fed {
  readonly #store: Store;
  readonly #onEnd: () => void;
  /** By the placement's key; the two below are made of it. */
  readonly #places = new Map<string, Place>();
  readonly #byRoot = new Map<string, Set<string>>();
  readonly #byCluster = new Map<string, Set<string>>();
  /** How many shares, by `<physical>/<logical cluster>`. */
  readonly #inLogical = new Map<string, number>();
  readonly #owned = new Owned();
  readonly #beside = new Beside();
  /** Of the workloads that were placed when they changed. */
  readonly formers = new FormerTemplates();
  readonly slices: SlicesIn;
  readonly controlled: Controlled;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #waiting = new Waiting();
  readonly #departures = new Departures();
  #revision = 0;
  #synced = false;
  #ended: { reason: unknown } | undefined;

  constructor(store: Store, onEnd: () => void) {
    this.#store = store;
    this.slices = new SlicesIn(store);
    const heard = (revision: number) => this.#waiting.until(() => this.#hasReached(revision));
    this.controlled = new Controlled(store, heard);
    this.#onEnd = onEnd;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { entries, revision } = await listEntries(this.#store, everyPlacement);
    for (const entry of entries) this.#learn(entry.key, placeOf(entry.key, read(entry)), revision);
    await this.#beside.load(this.#store, revision);
    this.#departures.begin(revision);
    this.#revision = revision;
    this.formers.reached(revision);
    await this.#store.watch(everything, {
      after: revision,
      signal,
      sink: (events) => {
        for (const event of events) this.#feed(event);
        this.formers.reached(this.#revision);
        this.#waiting.wake();
      },
      onSynced: (yes) => {
        this.#synced = yes;
        this.#waiting.wake();
      },
      onEnd: (reason) => this.#end(reason),
    });
    // Those who listen end by themselves when the server closes.
    const closed = () => {
      this.#waiting.end();
      this.#onEnd();
      this.formers.reached(Number.POSITIVE_INFINITY);
    };
    signal.addEventListener('abort', closed, { once: true });
  }

  /** The revision of the last event that was given to the listeners. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether the physical cluster has a share of anything in the logical one. */
  isIn(cluster: string, logical: string): boolean {
    return this.#inLogical.has(`${cluster}/${logical}`);
  }

  /** The objects of this namespace that the cluster has a share of, by uid; undefined: none. What was orphaned is not among them. */
  owners(cluster: string, place: NamespacePlace): ReadonlyMap<string, ObjectRef> | undefined {
    return this.#owned.in(cluster, place);
  }

  /** Whether the listeners got every visible event. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Keys of all placements that the cluster had a share of at `revision`, maybe of more; undefined: not known. */
  candidates(cluster: string, revision: number): string[] | undefined {
    const left = this.#departures.since(cluster, revision);
    if (left === undefined || !this.#hasReached(revision)) return undefined;
    return [...new Set([...(this.#byCluster.get(cluster) ?? []), ...left])].sort();
  }

  /** What the clusters of `revision` are to each other; undefined: not known. */
  peers(revision: number): ReadonlyMap<string, Peer> | undefined {
    return this.#hasReached(revision) ? this.#beside.clusters(revision) : undefined;
  }

  #hasReached(revision: number): boolean {
    const newest = this.#synced ? this.#store.revision : this.#revision;
    return revision <= newest && !this.#ended;
  }

  /** The listener gets every event after `revision` that concerns the cluster, until it leaves by the answer. */
  subscribe(cluster: string, listener: Listener): () => void {
    if (this.#ended) {
      listener.onEnd(this.#ended.reason);
      return () => {};
    }
    const all = this.#listeners.get(cluster) ?? new Set();
    this.#listeners.set(cluster, all.add(listener));
    return () => {
      all.delete(listener);
      if (all.size === 0 && this.#listeners.get(cluster) === all) this.#listeners.delete(cluster);
    };
  }

  #feed(event: StoreEvent): void {
    const { type, entry } = event;
    this.#revision = entry.revision;
    this.controlled.feed(event);
    // What is said of a share concerns no syncer: its own has said it.
    if (entry.key.startsWith(allSlices)) return;
    if (!entry.key.startsWith(allPlacements)) {
      this.#root(event);
      this.#tell(this.#beside.concerned(event, this.#listeners.keys(), this.#owned), event, undefined);
      return;
    }
    const placement = type === 'delete' ? undefined : read(entry);
    const before = this.#places.get(entry.key);
    // Conditions are most of what is written, and nothing of what is kept here or shown to a cluster.
    if (before && placement && saysTheSame(before, placement)) return;
    const place = placement && placeOf(entry.key, placement);
    this.#learn(entry.key, place, entry.revision);
    this.#tell(new Set([...(before?.clusters ?? []), ...(place?.clusters ?? [])]), event, placement);
  }

  #root(event: StoreEvent): void {
    const dependents = this.#byRoot.get(event.entry.key);
    if (dependents === undefined) return;
    if ([...dependents].some((key) => hasTemplates(this.#places.get(key)?.ref))) this.formers.note(event);
    const clusters = [...dependents].flatMap((key) => this.#places.get(key)?.clusters ?? []);
    this.#tell(new Set(clusters), event, undefined);
  }

  #tell(clusters: Iterable<string>, event: StoreEvent, placement: Placement | undefined): void {
    for (const cluster of clusters) {
      const listeners = this.#listeners.get(cluster);
      if (listeners) for (const listener of listeners) listener.event(event, placement);
    }
  }

  #learn(key: string, place: Place | undefined, revision: number): void {
    const before = this.#places.get(key);
    if (place === undefined) this.#places.delete(key);
    else this.#places.set(key, place);
    if (before && before.rootKey !== place?.rootKey) leave(this.#byRoot, before.rootKey, key);
    if (place && before?.rootKey !== place.rootKey) enter(this.#byRoot, place.rootKey, key);
    if (before) this.#owned.remove(before);
    if (place) this.#owned.add(place);
    for (const cluster of place?.clusters ?? []) {
      if (before?.clusters.includes(cluster)) continue;
      enter(this.#byCluster, cluster, key);
      tally(this.#inLogical, `${cluster}/${place?.logical}`, 1);
    }
    for (const cluster of before?.clusters ?? []) {
      if (place?.clusters.includes(cluster)) continue;
      leave(this.#byCluster, cluster, key);
      tally(this.#inLogical, `${cluster}/${before?.logical}`, -1);
      this.#departures.note({ cluster, key, revision });
    }
  }

  #end(reason: unknown): void {
    this.#ended = { reason };
    this.#synced = false;
    this.#waiting.end();
    this.formers.reached(Number.POSITIVE_INFINITY);
    this.#onEnd();
    const listeners = [...this.#listeners.values()].flatMap((all) => [...all]);
    this.#listeners.clear();
    for (const listener of listeners) listener.onEnd(reason);
  }
}

function read(entry: Entry): Placement {
  return shownStored(entry) as Placement;
}
