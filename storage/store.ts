import type { Measures } from './measures.ts';

/**
 * What every backend promises (test/contract/store.ts runs it against each of them):
 *
 * - One total order. Each committed write gets the next revision; revisions never repeat, not even after a
 *   crash or a restart.
 * - Acknowledged is durable. A write's promise resolves only after the bytes would survive a power cut; it is
 *   then visible to reads, and only then sent to watchers.
 * - Compare-and-swap. update and delete name the revision they expect and fail with `conflict` otherwise.
 * - Reads at a revision. get and list answer as of any revision between the last compaction and now.
 * - Watches are ordered, gap-free, free of duplicates, and resumable from any revision not yet compacted,
 *   across restarts.
 * - Leases fence. Of those who ask for a lease one at a time gets it, with a token higher than any before; a write
 *   may name a lease, and then happens only while that lease is held with that token.
 *
 * Keys are ASCII strings ordered by their bytes; values are opaque bytes that the caller must not change later.
 */
export interface Store {
  /** The newest visible revision. 0 for a store that was never written. */
  readonly revision: number;
  /**
   * The revision up to which history was forgotten; 0 at first. Reads as of a revision below it, and watches
   * after a revision below it, fail with `compacted`; the state as of this revision itself is still known.
   */
  readonly compacted: number;
  /** Why creates and updates are refused for now, while reads and deletes are not; where a store can tell. */
  readonly refusing?: string | undefined;
  /** `undefined` when the key is absent at that revision (default: the newest). */
  get(key: string, options?: { revision?: number }): Promise<Entry | undefined>;
  list(range: Range, options?: ListOptions): Promise<ListResult>;
  /**
   * The entries of a small range as of `revision`, at once, from memory: for what changes rarely and every request
   * asks for. Undefined where that takes a disk, another machine or more than a moment: `list` knows.
   */
  recent?(range: Range): readonly Entry[] | undefined;
  /**
   * The version of a key that was seen last, at once: there may be a newer one, or none at all. For whoever begins a guarded write,
   * and reads anew when that fails. Undefined where nothing was seen, and where to read costs no more.
   */
  seen?(key: string): Entry | undefined;
  /** Fails with `exists`. */
  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<Entry>;
  /** Fails with `conflict` (another revision, see StoreError.current) or `missing`. */
  update(key: string, value: Uint8Array, expected: number, options?: WriteOptions): Promise<Entry>;
  /** Fails with `conflict` or `missing`. Answers the entry as it was, with `revision` the deletion's. */
  delete(key: string, expected: number, options?: WriteOptions): Promise<Entry>;
  /**
   * Every event in the range with a revision greater than `after`, then live ones, until `signal` aborts or
   * the returned stop function is called. `sink` runs synchronously, in revision order, once per commit that
   * touched the range. When the watch cannot go on (compacted, store closed) `onEnd` gets the reason, once;
   * no sink call follows. Fails with `compacted` or `future` (`after` is newer than `revision`).
   * The returned promise resolves before the first live event is delivered; history comes before it resolves.
   */
  watch(range: Range, options: WatchOptions): Promise<() => void>;
  /** Forgets history up to and including `revision`: current values stay, older versions and events go. */
  compact(revision: number): Promise<void>;
  /**
   * Takes the lease `name` for `ttlMs`; undefined while somebody holds it. Once the promise resolves, no write that
   * names an earlier holder's token can happen any more. etcd rounds `ttlMs` up to seconds, two at least.
   */
  acquire(name: string, ttlMs: number): Promise<Lease | undefined>;
  /**
   * Compares what reads are served from with what is stored, as of one revision, without holding anybody up. What is
   * wrong is repaired from the store, and watches of such a kind end with `compacted`: they may have seen it.
   */
  check(): Promise<CheckReport>;
  /** How many keys of the range there are now, at once, where a store has them in memory. */
  count?(range: Range): number | undefined;
  measure?(): Promise<Measures>;
  /** Waits for what was accepted, ends watches with `closed`, and frees files. */
  close(): Promise<void>;
}

/** One version of one key. `revision` is the write that made it, `created` the write that made the key. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  readonly created: number;
}

/** Names a term of a lease: who held it when. */
export interface Fence {
  readonly name: string;
  /** Higher than that of every earlier term of any holder, also after a restart. */
  readonly token: number;
}

/**
 * A lease that was acquired. It ends by itself `ttlMs` after it was acquired or last kept alive, by the store's
 * clock: a holder that counts from before it asked gives up first. Ended or not, writes may name it.
 */
export interface Lease extends Fence {
  /** Another `ttlMs` from now; false when the lease has ended, for good. Fails with `unavailable`: not known. */
  keepAlive(): Promise<boolean>;
  /** Ends it now, so that nobody has to wait. Does not fail. */
  release(): Promise<void>;
}

export interface WriteOptions {
  /** The write happens only while this lease is held with this token; else it fails with `fenced`. */
  holding?: Fence | undefined;
  /**
   * By how many bytes what is stored grows, where whoever has the store bounds that: the write may fail with `limited`.
   * Of no meaning to a backend.
   */
  adds?: number | undefined;
}

export interface CheckReport {
  readonly revision: number;
  /** Of each kind (the first two folders of a key) how many entries there are, and how many were wrong. */
  readonly kinds: readonly { readonly kind: string; readonly entries: number; readonly mismatches: number }[];
  /** Records that do not match their checksums; memory cannot be compared with them. */
  readonly damaged: number;
}

/** start <= key < end. */
export interface Range {
  readonly start: string;
  readonly end: string;
}

export interface ListOptions {
  /** As of which revision; default the newest. Fails with `compacted` or `future`. */
  revision?: number;
  limit?: number;
  /** Only keys strictly after this one: the next page. */
  after?: string;
}

export interface ListResult {
  readonly entries: readonly Entry[];
  /** The revision that the list shows. */
  readonly revision: number;
  readonly more: boolean;
  /** How many entries of the range come after the last one returned, at that revision. */
  readonly remaining: number;
}

export interface StoreEvent {
  readonly type: 'put' | 'delete';
  /** For a delete: the last value, with `revision` the deletion's. */
  readonly entry: Entry;
  /** The version before this event; absent for a create. */
  readonly previous?: Entry;
}

export interface WatchOptions {
  after: number;
  sink: (events: readonly StoreEvent[]) => void;
  onEnd?: (reason: StoreError) => void;
  signal?: AbortSignal;
  /**
   * Asked before and after each sink call: while the promise is pending, no event comes, nor is any kept for this
   * watch; afterwards it goes on from history, or ends with `compacted`.
   */
  pause?: () => Promise<void> | undefined;
  /** Whether every visible event was given to the sink when commits became visible, from now on. False at first. */
  onSynced?: (synced: boolean) => void;
}

/** The closed list of what can go wrong; the registry translates each into a Kubernetes Status. */
export type StoreErrorCode =
  | 'exists'
  | 'missing'
  | 'conflict'
  | 'fenced'
  | 'limited'
  | 'compacted'
  | 'future'
  | 'closed'
  | 'full'
  | 'corrupt'
  | 'unavailable'
  | 'too-large';

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly key: string | undefined;
  /** With `conflict`: the entry that is there. */
  readonly current: Entry | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    details: { key?: string; current?: Entry; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StoreError';
    this.code = code;
    this.key = details.key;
    this.current = details.current;
  }
}

/** The range of all keys that start with `prefix` (which must not be empty and ends below 0x7f). */
export function prefixRange(prefix: string): Range {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}

/** Where the part of a range begins that comes after the key `after`. */
export function startAfter({ start }: Range, after: string | undefined): string {
  return after === undefined || after < start ? start : `${after}\0`;
}

/** A process that lives has it; `path`: the file that says so. */
export class OwnedError extends StoreError {
  constructor(pid: string, path: string) {
    super('unavailable', `the store is open in process ${pid} (${path})`);
  }
}
