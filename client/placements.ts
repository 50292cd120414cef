import { setMaxListeners } from 'node:events';
import { placements } from '../cluster/names.ts';
import { isOf, isSlice, type PlacementSlice, withSlices } from '../cluster/slices.ts';
import type { Placement } from '../cluster/types.ts';
import { silentLogger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { Cache } from './cache.ts';
import type { Client } from './client.ts';
import {
  firstSync,
  type Informer,
  type InformerOptions,
  informerOf,
  Reach,
  type StartedInformer,
} from './informer.ts';
import { reflect } from './reflector.ts';
import { keyOf, objectKey, parseKey } from './url.ts';

type Said = ReadonlyMap<string, PlacementSlice>;

/**
 * Placements with what their clusters say in status.clusters, under their own resourceVersion, by which they are written. Both
 * come in one list and one watch: what it shows is at each moment what was stored at one revision, so that nobody takes what was
 * said of a share that is gone for a word about the one that came after it.
 */
export interface PlacementInformer extends Informer<Placement> {
  /** By cluster, what is stored beside the Placement of that key, whether or not it is about this one. Never changed afterwards. */
  said(key: string): Said;
  /** Told of keys where something is said of no Placement, or of a former one: now, and whenever there is. The answer unsubscribes. */
  onStray(handler: (key: string) => void): () => void;
}

const nothing: Said = new Map();

/** Of all logical clusters. Starts at once. */
export function startPlacementInformer(
  client: Client,
  options: InformerOptions<Placement>,
): PlacementInformer & StartedInformer<Placement> {
  const { logger = silentLogger, signal } = options;
  setMaxListeners(0, signal);
  const joined = new JoinedPlacements((err) => logger.error({ err }, 'informer handler failed'));
  for (const [name, of] of Object.entries(options.indexers ?? {})) joined.cache.addIndex(name, of);
  const first = firstSync(signal);
  const reach = new Reach();
  const onSynced = () => first.settle();
  const onReached = (revision: string) => reach.now(Number(revision));
  const { transform: _, ...rest } = options;
  const reading = { ...rest, slices: 'apart' as const, logger, onSynced, onReached };
  const stopped = reflect<KubeObject>(client, placements, joined, reading);
  return Object.assign(informerOf(placements, joined.cache, { first, reach, stopped }), {
    said: (key: string) => joined.said(key),
    onStray: (handler: (key: string) => void) => joined.onStray(handler),
  });
}

interface Parts {
  placement: Placement | undefined;
  said: Said;
  joined: Placement | undefined;
}

/** Puts Placements and slices together, as they come in the order of their revisions. */
export class JoinedPlacements {
  readonly cache: Cache<Placement>;
  #parts = new Map<string, Parts>();
  readonly #handlers = new Set<(key: string) => void>();

  constructor(failed: (error: unknown) => void) {
    this.cache = new Cache<Placement>(failed, Object.is);
  }

  said(key: string): Said {
    return this.#parts.get(key)?.said ?? nothing;
  }

  onStray(handler: (key: string) => void): () => void {
    for (const [key, parts] of this.#parts) if (hasStrays(parts)) handler(key);
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  put(object: KubeObject): void {
    const key = placementKey(object);
    const before = this.#parts.get(key);
    const { placement, said = nothing } = before ?? {};
    if (!isSlice(object)) {
      if (!isSame(placement, object)) this.#set(key, { placement: object as Placement, said });
      return;
    }
    const { cluster = '' } = object.spec ?? {};
    if (!isSame(said.get(cluster), object))
      this.#set(key, { placement, said: new Map(said).set(cluster, object) });
  }

  /** `object` is the state that the deletion was told with. */
  remove(object: KubeObject): void {
    const key = placementKey(object);
    const { placement, said = nothing } = this.#parts.get(key) ?? {};
    if (!isSlice(object)) {
      const last = placement && withSlices(object as Placement, said.values());
      this.#parts.set(key, { placement: undefined, said, joined: undefined });
      if (last) this.cache.remove(last);
      this.#look(key);
      return;
    }
    const rest = new Map(said);
    if (rest.delete(object.spec?.cluster ?? '')) this.#set(key, { placement, said: rest });
  }

  /** Becomes exactly `objects`: handlers see none of it half done. */
  replace(objects: readonly KubeObject[]): void {
    const before = this.#parts;
    const now = new Map<string, Parts & { said: Map<string, PlacementSlice> }>();
    for (const object of objects) {
      const key = placementKey(object);
      const parts = now.get(key) ?? { placement: undefined, said: new Map(), joined: undefined };
      now.set(key, parts);
      if (isSlice(object)) parts.said.set(object.spec?.cluster ?? '', object);
      else parts.placement = object as Placement;
    }
    this.#parts = now;
    for (const [key, parts] of now) parts.joined = joinedOf(parts, before.get(key));
    this.cache.replace([...now.values()].flatMap(({ joined }) => joined ?? []));
    for (const key of now.keys()) this.#look(key);
  }

  #set(key: string, { placement, said }: Omit<Parts, 'joined'>): void {
    const parts = { placement, said, joined: placement && withSlices(placement, said.values()) };
    this.#parts.set(key, parts);
    if (parts.joined) this.cache.put(parts.joined);
    this.#look(key);
  }

  #look(key: string): void {
    const parts = this.#parts.get(key);
    if (!parts) return;
    if (!parts.placement && parts.said.size === 0) this.#parts.delete(key);
    else if (hasStrays(parts)) for (const handler of this.#handlers) handler(key);
  }
}

/** The very same as before where nothing of it has changed: so it is told to nobody. */
function joinedOf({ placement, said }: Parts, before: Parts | undefined): Placement | undefined {
  const isAsBefore =
    isSame(before?.placement, placement) &&
    before?.said.size === said.size &&
    [...said].every(([cluster, slice]) => isSame(before.said.get(cluster), slice));
  return isAsBefore ? before.joined : placement && withSlices(placement, said.values());
}

function hasStrays({ placement, said }: Parts): boolean {
  return said.size > 0 && [...said.values()].some((slice) => !isOf(slice, placement));
}

function isSame(before: KubeObject | undefined, now: KubeObject | undefined): boolean {
  const [a, b] = [before?.metadata, now?.metadata];
  return a !== undefined && a.uid === b?.uid && a.resourceVersion === b?.resourceVersion;
}

/** Of a Placement its own; of a slice that of the Placement which it is about. */
function placementKey(object: KubeObject): string {
  const key = objectKey(object);
  if (!isSlice(object)) return key;
  const { cluster, namespace } = parseKey(key);
  return keyOf(cluster, namespace, object.spec?.placement.name ?? '');
}
