import { isRefusedRevision } from '../../cluster/refused-revision.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry, Range, Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { translated } from '../registry/errors.ts';
import { collectionRange, type StoredAs } from '../registry/keys.ts';
import type { NamespacePlace } from './places.ts';

type Kind = Pick<StoredAs, 'group' | 'resource'>;

/** Of so many namespaces and kinds it is kept; whose turn was longest ago is read anew when it is asked for. */
const mostKept = 1024;

/**
 * What each object controls of one kind, such as a Deployment's ReplicaSets: by the uids that are named in it, of each namespace that
 * somebody has asked for, read once and then fed. So one that has a few costs these, however many others the namespace has.
 */
export class Controlled {
  readonly #store: Store;
  readonly #heard: (revision: number) => Promise<boolean>;
  readonly #kept = new Map<string, { named: Named; read: Promise<void> }>();

  /** `heard`: resolves once all up to that revision was given to `feed`, or with false where it will not be. */
  constructor(store: Store, heard: (revision: number) => Promise<boolean>) {
    this.#store = store;
    this.#heard = heard;
  }

  feed({ type, entry }: StoreEvent): void {
    if (this.#kept.size === 0) return;
    const named = this.#kept.get(entry.key.slice(0, entry.key.lastIndexOf('/') + 1))?.named;
    if (type === 'delete') named?.gone(entry);
    else named?.put(entry);
  }

  /** All that the owner controls and clusters have, or had, by name; as it is now, as a list of the namespace would have it. */
  async of(
    { group, resource }: Kind,
    { logical, namespace }: NamespacePlace,
    owner: string,
  ): Promise<KubeObject[]> {
    const stored = { group, resource, namespaced: true };
    const range = collectionRange(stored, logical, namespace);
    const entries = (await this.#named(range, stored, owner)) ?? (await this.#all(range, stored, owner));
    return entries
      .map((entry) => decodeStored(entry))
      .filter((object) => controllerOf(object) === owner && !isRefusedRevision(object));
  }

  /** Undefined: nobody knows which. */
  async #named(range: Range, stored: StoredAs, owner: string): Promise<Entry[] | undefined> {
    if (!plain.test(owner)) return undefined;
    const named = await this.#keep(range, stored);
    const { revision } = await translated(this.#store.list(range, { limit: 1 }), stored);
    // One that others have taken the place of meanwhile was told nothing since.
    if (!(await this.#heard(revision)) || this.#kept.get(range.start)?.named !== named) return undefined;
    const found = await Promise.all(named.of(owner).map((key) => translated(this.#store.get(key), stored)));
    return found.filter((entry) => entry !== undefined);
  }

  async #all(range: Range, stored: StoredAs, owner: string): Promise<Entry[]> {
    const { entries } = await translated(this.#store.list(range), stored);
    const needle = Buffer.from(JSON.stringify(owner));
    return entries.filter((entry) => bytesOf(entry).includes(needle));
  }

  async #keep(range: Range, stored: StoredAs): Promise<Named> {
    const kept = this.#kept.get(range.start) ?? this.#begin(range, stored);
    this.#kept.delete(range.start);
    this.#kept.set(range.start, kept);
    await kept.read;
    return kept.named;
  }

  /** It is fed from now on: whatever comes while it is read counts, if it is newer. */
  #begin(range: Range, stored: StoredAs): { named: Named; read: Promise<void> } {
    const named = new Named();
    const read = translated(this.#store.list(range), stored).then(({ entries }) => {
      for (const entry of entries) named.put(entry);
    });
    const kept = { named, read };
    read.catch(() => {
      if (this.#kept.get(range.start) === kept) this.#kept.delete(range.start);
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}

export function controllerOf(object: KubeObject): string | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}

/** Those whose bytes name a uid, and maybe some that are gone. */
class Named {
  readonly #uids = new Map<string, { revision: number; uids: readonly string[] }>();
  readonly #keys = new Map<string, Set<string>>();

  of(uid: string): string[] {
    return [...(this.#keys.get(uid) ?? [])].sort();
  }

  put({ key, revision, ...entry }: Entry): void {
    const before = this.#uids.get(key);
    if (before && before.revision >= revision) return;
    const uids = uidsIn(entry);
    this.#uids.set(key, { revision, uids });
    for (const uid of before?.uids ?? []) if (!uids.includes(uid)) this.#leave(uid, key);
    for (const uid of uids) {
      const keys = this.#keys.get(uid);
      if (keys) keys.add(key);
      else this.#keys.set(uid, new Set([key]));
    }
  }

  gone({ key, revision }: Entry): void {
    const before = this.#uids.get(key);
    if (!before || before.revision > revision) return;
    this.#uids.delete(key);
    for (const uid of before.uids) this.#leave(uid, key);
  }

  #leave(uid: string, key: string): void {
    const keys = this.#keys.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(uid);
  }
}

/** What stands in JSON as it is. */
const plain = /^[\w-]+$/;
const uidMark = Buffer.from('"uid":"');

/** Of stored bytes, which are compact. A text may hold such a mark as well: then there is one more. */
function uidsIn(entry: Pick<Entry, 'value'>): string[] {
  const bytes = bytesOf(entry);
  const uids = new Set<string>();
  for (let at = bytes.indexOf(uidMark); at >= 0; at = bytes.indexOf(uidMark, at)) {
    at += uidMark.length;
    const end = bytes.indexOf('"', at);
    if (end >= 0) uids.add(bytes.toString('latin1', at, end));
  }
  return [...uids];
}

function bytesOf({ value }: Pick<Entry, 'value'>): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
