import { createHash } from 'node:crypto';
import { serviceNameLabel } from '../../cluster/endpoints.ts';
import { type Peer, peerSlices, peersOf } from '../../cluster/peers.ts';
import type { Placement, ShareView } from '../../cluster/types.ts';
import { encodeJson } from '../../kube/json.ts';
import { textAt } from '../../kube/untyped.ts';
import type { Entry, Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { parseKey } from '../registry/keys.ts';
import { listEntries, readObject } from '../registry/rewrite.ts';
import { besideOf, peersAt, placeOfSlice, withCluster } from './beside.ts';
import type { Fed } from './index.ts';
import type { Viewer } from './join.ts';
import { peerShare } from './peer-share.ts';
import { addressIn, clustersStored, type NamespacePlace, placementsStored, slicesStored } from './places.ts';
import { enter, leave } from './tally.ts';

export interface ShareEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: ShareView;
}

type Work = () => Promise<ShareEvent[]>;
type Clusters = ReadonlyMap<string, Peer>;

/** A Service that the cluster has a share of: its Placement as it was last seen. */
interface Service {
  key: string;
  placement: Placement;
}

interface Told {
  /** The key of the slice that it was made of. */
  from: string;
  digest: string;
  last: ShareView;
}

/**
 * What a cluster gets beside its own shares: EndpointSlices with the endpoints that its Services have on the other clusters of
 * its network. No Placement says them, they follow from what is stored at a revision like the shares themselves. Work is done
 * in order, one after the other; each sees the Services and clusters as they were when it was asked for.
 */
export class Peers {
  readonly #store: Store;
  readonly #viewer: Viewer;
  #clusters: Clusters = new Map();
  readonly #services = new Map<string, Service>();
  readonly #byNamespace = new Map<string, Set<string>>();
  /** By the Service's placement key and the share's name. */
  readonly #told = new Map<string, Map<string, Told>>();

  constructor(store: Store, viewer: Viewer) {
    this.#store = store;
    this.#viewer = viewer;
  }

  /** All there are as of `revision`, of the Services that were taken. */
  async load(index: Pick<Fed, 'peers'>, revision: number): Promise<ShareView[]> {
    this.#clusters = index.peers(revision) ?? (await peersAt(this.#store, revision));
    const events = await this.anew([...this.#services.keys()], revision)();
    return events.map(({ object }) => object);
  }

  /** What of other clusters' shares matters here: undefined of what is no Service. */
  part({ spec }: Placement): unknown {
    if (!spec || !isService(spec.ref)) return undefined;
    return Object.entries(spec.shares ?? {}).map(([name, { phase, withdrawn }]) => [name, phase, withdrawn]);
  }

  take(service: Service): void {
    const { ref } = service.placement.spec ?? {};
    if (!ref || !isService(ref)) return;
    this.#services.set(service.key, service);
    enter(this.#byNamespace, placeKey(placeOf(service.key)), service.key);
  }

  forget(key: string): void {
    if (this.#services.delete(key)) leave(this.#byNamespace, placeKey(placeOf(key)), key);
  }

  /** Takes a slice or a cluster in; undefined: it changes nothing here. */
  feed(event: StoreEvent): Work | undefined {
    const { type, entry } = event;
    const { key, revision } = entry;
    if (besideOf(key) === 'cluster') return this.#cluster(event);
    if (besideOf(key) !== 'slice' || !this.#clusters.has(this.#viewer.cluster)) return undefined;
    const services = [...(this.#byNamespace.get(placeKey(placeOfSlice(key))) ?? [])];
    if (services.length === 0) return undefined;
    const put = type === 'delete' ? [] : [entry];
    return this.#work(services, revision, { from: key, entries: put });
  }

  /** Of Services, when their Placements or they themselves have changed, or they went. */
  anew(keys: readonly string[], revision: number): Work {
    return this.#work(keys, revision);
  }

  #cluster(event: StoreEvent): Work | undefined {
    const { key, revision } = event.entry;
    const clusters = withCluster(this.#clusters, event);
    if (clusters === this.#clusters) return undefined;
    this.#clusters = clusters;
    const { name } = parseKey(clustersStored, key);
    const isHere = name === this.#viewer.cluster;
    const concerned = [...this.#services.values()].filter(
      ({ placement }) => isHere || Object.hasOwn(placement.spec?.shares ?? {}, name),
    );
    if (concerned.length === 0) return undefined;
    return this.anew(
      concerned.map(({ key }) => key),
      revision,
    );
  }

  /** `only`: what is made of one slice, which is there or not. Else what is in a namespace is read once. */
  #work(keys: readonly string[], revision: number, only?: { from: string; entries: Entry[] }): Work {
    const clusters = this.#clusters;
    const taken = keys.map((key) => ({ key, service: this.#services.get(key) }));
    return async () => {
      const read = new Map<string, Promise<readonly Entry[]>>();
      const slicesIn = async (place: NamespacePlace) => {
        if (only) return only.entries;
        const known = read.get(placeKey(place)) ?? this.#slicesIn(place, revision);
        read.set(placeKey(place), known);
        return await known;
      };
      const made = taken.map(async ({ key, service }) => ({
        key,
        all: service ? await this.#made(service, clusters, { revision, slicesIn }) : [],
      }));
      return (await Promise.all(made)).flatMap(({ key, all }) => this.#tell(key, all, only?.from, revision));
    };
  }

  async #slicesIn({ logical, namespace }: NamespacePlace, revision: number): Promise<readonly Entry[]> {
    const scope = { resource: slicesStored, cluster: logical, namespace };
    return (await listEntries(this.#store, scope, { revision })).entries;
  }

  async #made(
    service: Service,
    clusters: Clusters,
    { revision, slicesIn }: { revision: number; slicesIn(place: NamespacePlace): Promise<readonly Entry[]> },
  ): Promise<Told[]> {
    const { ref, shares = {} } = service.placement.spec ?? {};
    const { cluster } = this.#viewer;
    if (!ref || peersOf({ shares }, clusters, cluster).length === 0) return [];
    const place = placeOf(service.key);
    const mark = Buffer.from(`"${serviceNameLabel}":"${ref.name}"`);
    const own = (await slicesIn(place)).filter(({ value }) =>
      Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(mark),
    );
    if (own.length === 0) return [];
    const root = await readObject(this.#store, addressIn(place, ref), { revision });
    if (root?.metadata.uid !== ref.uid || textAt(root.spec, 'type') === 'ExternalName') return [];
    const served = { name: ref.name, uid: ref.uid, shares };
    return own.flatMap((entry) =>
      peerSlices(served, [decodeStored(entry)], clusters, cluster).map((slice) => {
        const last = peerShare(this.#viewer, { ...service, slice, revision });
        const digest = createHash('sha1').update(encodeJson(last.spec)).digest('base64');
        return { from: entry.key, digest, last };
      }),
    );
  }

  #tell(key: string, made: readonly Told[], only: string | undefined, revision: number): ShareEvent[] {
    const told = this.#told.get(key) ?? new Map<string, Told>();
    const wanted = new Map(made.map((one) => [one.last.metadata.name ?? '', one]));
    const events: ShareEvent[] = [];
    for (const [name, { from, last }] of told) {
      if (wanted.has(name) || (only !== undefined && from !== only)) continue;
      told.delete(name);
      const metadata = { ...last.metadata, resourceVersion: String(revision) };
      events.push({ type: 'DELETED', object: { ...last, metadata } });
    }
    for (const [name, one] of wanted) {
      const before = told.get(name);
      if (before?.digest === one.digest) continue;
      const { manifest: _, ...spec } = one.last.spec as NonNullable<ShareView['spec']>;
      told.set(name, { ...one, last: { ...one.last, spec } });
      events.push({ type: before ? 'MODIFIED' : 'ADDED', object: one.last });
    }
    if (told.size > 0) this.#told.set(key, told);
    else this.#told.delete(key);
    return events;
  }
}

function isService({ group, resource }: { group: string; resource: string }): boolean {
  return group === '' && resource === 'services';
}

function placeOf(placementKey: string): NamespacePlace {
  const { cluster: logical, namespace } = parseKey(placementsStored, placementKey);
  return { logical, namespace };
}

function placeKey({ logical, namespace }: NamespacePlace): string {
  return `${logical}/${namespace}`;
}
