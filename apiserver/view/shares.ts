import { createHash } from 'node:crypto';
import { askedSince } from '../../cluster/heard.ts';
import { rootCluster } from '../../cluster/names.ts';
import type { PodAccess } from '../../cluster/pod-access.ts';
import type { Placement, PlacementSpec, ShareView, ShareViewSpec } from '../../cluster/types.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import type { Entry, Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored, shownStored } from '../registry/codec.ts';
import { translated } from '../registry/errors.ts';
import { parseKey } from '../registry/keys.ts';
import { keyOf, listEntries } from '../registry/rewrite.ts';
import { allPlacements, everyPlacement, type Fed } from './index.ts';
import { gone, type Item, partOf } from './item.ts';
import { essence, joinShare, type Viewer } from './join.ts';
import { isOfStatus } from './of-status.ts';
import { saysTheSame } from './owned.ts';
import { Peers } from './peers.ts';
import { addressIn, placementsStored } from './places.ts';
import { type Accessing, Reach } from './reach.ts';
import { saidOf } from './slices.ts';
import type { ShareEvent } from './told-beside.ts';
import { both, tellAll, type Work } from './work.ts';

interface Listed {
  entries: readonly Entry[];
  revision: number;
}

/**
 * The shares of one physical cluster at one revision, and how they change from there. The store's revisions are
 * one order over all kinds, so feeding every event once, in order, gives the same state as listing anew.
 */
export class Shares {
  readonly #store: Store;
  readonly #viewer: Viewer;
  readonly #items = new Map<string, Item>();
  /** Root key -> placement keys. */
  readonly #byRoot = new Map<string, Set<string>>();
  /** Text, since bytes of their own would hold the whole piece of memory that small ones are cut from. */
  readonly #needle: string;
  readonly #peers: Peers;
  readonly #reach: Reach;

  constructor(store: Store, viewer: Viewer) {
    this.#store = store;
    this.#viewer = viewer;
    this.#peers = new Peers(store, viewer);
    this.#reach = new Reach(store, viewer.cluster);
    this.#needle = `${JSON.stringify(viewer.cluster)}:`;
  }

  /** Reads the state at `revision` (default: the newest), and answers it. */
  async load(index: Fed, revision?: number): Promise<{ revision: number; items: ShareView[] }> {
    const listed =
      (await this.#known(index, revision ?? this.#store.revision)) ?? (await this.#all(revision));
    for (const entry of listed.entries) this.#take(entry);
    await this.#reach.load(listed.revision);
    const accessing = this.#reach.now();
    const items = await Promise.all(
      [...this.#items.values()].map(async (item) => {
        const root = await this.#root(item, listed.revision);
        const access = await accessing(item, root, listed.revision);
        const since = Math.max(root?.revision ?? 0, Number(item.placement.metadata.resourceVersion));
        return this.#tell(item, root, { revision: since, as: listed.revision }, access);
      }),
    );
    const beside = await this.#peers.load(index, listed.revision);
    return {
      revision: listed.revision,
      items: [...items.flatMap((event) => event?.object ?? []), ...beside],
    };
  }

  /** The cluster's own placements, and maybe some that it had once. */
  async #known(index: Fed, revision: number): Promise<Listed | undefined> {
    const keys = index.candidates(this.#viewer.cluster, revision);
    if (keys === undefined) return undefined;
    const entries = await Promise.all(
      keys.map((key) => translated(this.#store.get(key, { revision }), placementsStored)),
    );
    return { revision, entries: entries.filter((entry) => entry !== undefined) };
  }

  /** Of a revision that the index has not reached, or has forgotten. */
  #all(revision: number | undefined): Promise<Listed> {
    return listEntries(this.#store, everyPlacement, revision === undefined ? {} : { revision });
  }

  /**
   * Takes the events that matter in, at once; the answer, to be awaited in order, says what to tell.
   * Undefined: nothing here concerns this cluster. `placement`: what the event put, where somebody has read it already.
   */
  feed(event: StoreEvent, placement?: Placement): Work | undefined {
    const { entry } = event;
    if (entry.key.startsWith(allPlacements)) return this.#placement(event, placement);
    const beside = both(this.#reached(event), this.#peers.feed(event));
    const dependents = this.#byRoot.get(entry.key);
    if (!dependents) return beside;
    const accessing = this.#reach.now();
    const items = [...dependents].flatMap((key) => this.#items.get(key) ?? []);
    const root = event.type === 'delete' ? undefined : entry;
    const anew = this.#peers.root([...dependents], event);
    // Whatever was told of it before is all there is to tell.
    if (isOfStatus(event)) return both(anew, beside);
    const { revision } = entry;
    const tell = async (item: Item) =>
      this.#tell(item, root, { revision }, await accessing(item, root, revision));
    return async () => [
      ...(await tellAll(items, rootCluster, tell)),
      ...((await anew?.()) ?? []),
      ...((await beside?.()) ?? []),
    ];
  }

  #reached(event: StoreEvent): Work | undefined {
    const reached = this.#reach.feed(event);
    if (!reached) return undefined;
    const accessing = this.#reach.now();
    const items = [...this.#items.values()].filter(({ key }) => reached.concerns(key));
    return () => tellAll(items, reached.cluster, (item) => this.#anew(item, event.entry.revision, accessing));
  }

  /** As it is at that revision. */
  async #anew(item: Item, revision: number, accessing: Accessing): Promise<ShareEvent | undefined> {
    const root = await this.#root(item, revision);
    return this.#tell(item, root, { revision }, await accessing(item, root, revision));
  }

  #placement({ type, entry }: StoreEvent, placement: Placement | undefined): Work | undefined {
    const before = this.#items.get(entry.key);
    const after = type === 'delete' ? undefined : this.#take(entry, placement);
    if (!after) {
      if (!before) return undefined;
      this.#forget(before);
      const anew = this.#peers.placed(entry.key, before.placement, entry.revision);
      return async () => [...gone(before, entry.revision), ...((await anew?.()) ?? [])];
    }
    if (before && saysTheSame(before.placement, after.placement)) return undefined;
    const anew = this.#peers.placed(entry.key, before?.placement, entry.revision);
    if (before?.part === after.part) return anew;
    const accessing = this.#reach.now();
    return async () => {
      const event = await this.#anew(after, entry.revision, accessing);
      return [...(event ? [event] : []), ...((await anew?.()) ?? [])];
    };
  }

  /** The item made or renewed from the placement; undefined when the cluster has no share of it (any more). */
  #take(entry: Entry, read?: Placement): Item | undefined {
    if (read === undefined && !this.#isNamedIn(entry)) return undefined;
    const placement = read ?? (decodeStored(entry) as Placement);
    const before = this.#items.get(entry.key);
    // Conditions, which are most of what is written of one that settles.
    if (before && saysTheSame(before.placement, placement)) return this.#keep({ ...before, placement });
    const { shares, ref } = placement.spec ?? {};
    const share = isRecord(shares) ? getOwn(shares, this.#viewer.cluster) : undefined;
    if (!share || !ref) return undefined;
    const { cluster: logical, namespace } = parseKey(placementsStored, entry.key);
    const rootKey = keyOf(addressIn({ logical, namespace }, ref));
    const part = partOf(placement, share);
    if (before && before.rootKey !== rootKey) this.#unlink(before);
    const item = this.#keep({ key: entry.key, placement, part, rootKey, told: before?.told ?? {} });
    const dependents = this.#byRoot.get(rootKey) ?? new Set();
    this.#byRoot.set(rootKey, dependents.add(entry.key));
    return item;
  }

  #keep(item: Item): Item {
    this.#items.set(item.key, item);
    this.#peers.take(item);
    return item;
  }

  /** Cheaper than decoding what does not even name the cluster. */
  #isNamedIn({ value }: Entry): boolean {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(this.#needle);
  }

  #root({ rootKey, placement }: Item, revision: number): Promise<Entry | undefined> {
    const { group, resource, name } = (placement.spec as PlacementSpec).ref;
    return translated(this.#store.get(rootKey, { revision }), { group, resource }, name);
  }

  #forget(item: Item): void {
    this.#items.delete(item.key);
    this.#peers.forget(item.key);
    this.#unlink(item);
  }

  #unlink(item: Item): void {
    const dependents = this.#byRoot.get(item.rootKey);
    dependents?.delete(item.key);
    if (dependents?.size === 0) this.#byRoot.delete(item.rootKey);
  }

  /**
   * Only when the syncer would see a difference: neither status of the root nor any slice wakes it. What is told shows what its
   * cluster had said by then, or by the revision `as`.
   */
  async #tell(
    item: Item,
    root: Entry | undefined,
    { revision, as = revision }: { revision: number; as?: number },
    access: PodAccess | undefined,
  ): Promise<ShareEvent | undefined> {
    const { cluster: logical } = parseKey(placementsStored, item.key);
    const object = root && shownStored(root);
    const view = joinShare({
      viewer: this.#viewer,
      logical,
      placement: item.placement,
      root: object,
      access,
      revision,
    });
    if (!view) return undefined;
    const digest = createHash('sha1').update(essence(view)).digest('base64');
    const { told } = item;
    // That nothing is asked any more is no news. An earlier time is: a clock may have been set back.
    const asked = (view.spec && askedSince(view.spec.share)) ?? told.asked;
    if (told.digest === digest && told.asked === asked) return undefined;
    const before = told.digest !== undefined;
    const { manifest: _, ...spec } = view.spec ?? ({} as ShareViewSpec);
    const status = await saidOf(this.#store, this.#viewer, item, as);
    const shown = status ? { ...view, status } : view;
    told.digest = digest;
    if (asked !== undefined) told.asked = asked;
    told.last = { ...shown, spec };
    return { type: before ? 'MODIFIED' : 'ADDED', object: shown };
  }
}
