import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Peer, peerSlices, peersOf } from '../../cluster/peers.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import type { Placement, ShareView } from '../../cluster/types.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { textAt } from '../../kube/untyped.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { decodeStored, shownStored } from '../registry/codec.ts';
import { parseKey } from '../registry/keys.ts';
import { readObject } from '../registry/rewrite.ts';
import { besideOf, clusterIn, peersAt, placeOfSlice, withCluster } from './beside.ts';
import type { Fed } from './index.ts';
import type { Viewer } from './join.ts';
import { peerShare } from './peer-share.ts';
import { addressIn, type NamespacePlace, placementsStored } from './places.ts';
import { type SliceIn, SlicesIn, serviceOf } from './slices-in.ts';
import { type Made, type Scope, type ShareEvent, ToldBeside } from './told-beside.ts';
import type { Work } from './work.ts';

type Clusters = ReadonlyMap<string, Peer>;

/** A Service that the cluster has a share of: its Placement as it was last seen. */
interface Service {
  key: string;
  placement: Placement;
}

/** What of a Service says whether it has endpoints at all. */
interface Root {
  uid: string | undefined;
  isElsewhere: boolean;
}

/**
 * What a cluster gets beside its own shares: EndpointSlices with the endpoints that its Services have on the other clusters of
 * its network. No Placement says them, they follow from what is stored at a revision like the shares themselves. Work is done
 * in order, one after the other; each sees the Services and clusters as they were when it was asked for.
 */
export class Peers {
  readonly #store: Store;
  readonly #viewer: Viewer;
  #slices: SlicesIn;
  #clusters: Clusters = new Map();
  readonly #services = new Map<string, Service>();
  /** By place and name. */
  readonly #named = new Map<string, string>();
  readonly #told = new ToldBeside();
  /** The Services themselves, as of what was last told; absent: nobody has asked yet. */
  readonly #roots = new Map<string, Root>();

  constructor(store: Store, viewer: Viewer) {
    this.#store = store;
    this.#viewer = viewer;
    this.#slices = new SlicesIn(store);
  }

  /** All there are as of `revision`, of the Services that were taken. */
  async load(index: Pick<Fed, 'peers' | 'slices'>, revision: number): Promise<ShareView[]> {
    this.#slices = index.slices;
    this.#clusters = index.peers(revision) ?? (await peersAt(this.#store, revision));
    const events = await this.#work([...this.#services.keys()], revision, {})();
    return events.map(({ object }) => object);
  }

  take(service: Service): void {
    const { ref } = service.placement.spec ?? {};
    if (!ref || !isService(ref)) return;
    this.#services.set(service.key, service);
    this.#named.set(nameKey(placeOf(service.key), ref.name), service.key);
  }

  /** Of a Placement that was taken, or forgotten, in place of `before`; undefined: the slices are as they were. */
  placed(key: string, before: Placement | undefined, revision: number): Work | undefined {
    const after = this.#services.get(key)?.placement;
    const changes = this.#part(before) !== this.#part(after);
    if (before && after) return changes ? this.#work([key], revision, {}) : undefined;
    const work = changes ? this.#work([key], revision, {}) : async () => [];
    return () => {
      // While it is not here, nobody says what becomes of the Service.
      this.#roots.delete(key);
      return work();
    };
  }

  forget(key: string): void {
    const { ref } = this.#services.get(key)?.placement.spec ?? {};
    if (!ref) return;
    this.#services.delete(key);
    this.#named.delete(nameKey(placeOf(key), ref.name));
  }

  /** Takes a slice or a cluster in; undefined: it changes nothing here. */
  feed(event: StoreEvent): Work | undefined {
    const { type, entry } = event;
    const { key, revision } = entry;
    if (besideOf(key) === 'cluster') return this.#cluster(event);
    if (besideOf(key) !== 'slice' || !this.#clusters.has(this.#viewer.cluster)) return undefined;
    const slice = type === 'delete' ? undefined : shownStored(entry);
    const named = slice && this.#named.get(nameKey(placeOfSlice(key), serviceOf(slice)));
    const work = slice && named ? this.#work([named], revision, { from: key }, [{ key, slice }]) : undefined;
    return async () => {
      const former = this.#told.madeFrom(key).filter((service) => service !== named);
      const gone = former.flatMap((service) => this.#told.tell(service, [], { from: key }, revision));
      return [...gone, ...((await work?.()) ?? [])];
    };
  }

  /** Of what is a Service, when it has changed itself: most of it matters to its own cluster alone. */
  root(keys: readonly string[], { type, entry }: StoreEvent): Work | undefined {
    const services = keys.flatMap((key) => this.#services.get(key) ?? []);
    if (services.length === 0) return undefined;
    const work = services.map((service) => ({ service, all: this.#work([service.key], entry.revision, {}) }));
    return async () => {
      const events: ShareEvent[] = [];
      for (const { service, all } of work) {
        const before = this.#roots.get(service.key);
        if (before === undefined) continue;
        const now = rootOf(type === 'put' ? decodeStored(entry) : undefined);
        this.#roots.set(service.key, now);
        if (serves(now, service) !== serves(before, service)) events.push(...(await all()));
      }
      return events;
    };
  }

  /** What of a Placement matters here; undefined: it leads to no other cluster of the network. */
  #part({ spec }: Partial<Placement> = {}): string | undefined {
    if (!spec || !isService(spec.ref)) return undefined;
    const { ref, shares = {}, physicalNamespace, namespaceUid, namespaceLabels } = spec;
    const peers = peersOf({ shares }, this.#clusters, this.#viewer.cluster);
    if (peers.length === 0) return undefined;
    return encodeJson([ref.name, ref.uid, physicalNamespace, namespaceUid, namespaceLabels, peers.sort()]);
  }

  /** Networks that this cluster is not in, before or after, are none of its business. */
  #cluster(event: StoreEvent): Work | undefined {
    const { revision } = event.entry;
    const before = this.#clusters;
    const told = clusterIn(event);
    const after = withCluster(before, told);
    if (after === before) return undefined;
    this.#clusters = after;
    const { name } = told;
    const me = this.#viewer.cluster;
    const network = after.get(me)?.network;
    if (name === me) {
      if (network === before.get(me)?.network) return undefined;
      return this.#work([...this.#services.keys()], revision, {});
    }
    if (network === undefined) return undefined;
    const concerned = [...this.#services.values()].filter(({ placement }) => {
      const served = { shares: placement.spec?.shares ?? {} };
      return [before, after].some((clusters) => peersOf(served, clusters, me).includes(name));
    });
    if (concerned.length === 0) return undefined;
    return this.#work(
      concerned.map(({ key }) => key),
      revision,
      { peer: name },
    );
  }

  /** `all`: the slices of the scope, where they are known. */
  #work(keys: readonly string[], revision: number, scope: Scope, all?: readonly SliceIn[]): Work {
    const clusters = this.#clusters;
    const taken = keys.map((key) => ({ key, service: this.#services.get(key) }));
    return async () => {
      const events: ShareEvent[] = [];
      for (const { key, service } of taken) {
        const made = service ? await this.#made(service, clusters, revision, scope, all) : [];
        events.push(...this.#told.tell(key, made, scope, revision));
      }
      return events;
    };
  }

  async #made(
    service: Service,
    clusters: Clusters,
    revision: number,
    scope: Scope,
    all?: readonly SliceIn[],
  ): Promise<Made[]> {
    const { ref, shares = {} } = service.placement.spec ?? {};
    const { cluster } = this.#viewer;
    const peers = peersOf({ shares }, clusters, cluster);
    if (!ref || peers.length === 0 || (scope.peer && !peers.includes(scope.peer))) return [];
    const place = placeOf(service.key);
    const root =
      this.#roots.get(service.key) ??
      rootOf(await readObject(this.#store, addressIn(place, ref), { revision }));
    this.#roots.set(service.key, root);
    if (!serves(root, service)) return [];
    if (!all) await setImmediate();
    const own = all ?? (await this.#slices.of(place, ref.name, revision));
    const served = { name: ref.name, uid: ref.uid, shares };
    return own.flatMap(({ key: from, slice }) => {
      const [peer = ''] = reflectedFrom(slice);
      if (scope.peer !== undefined && peer !== scope.peer) return [];
      return peerSlices(served, [slice], clusters, cluster).map((slice) => {
        const last = peerShare(this.#viewer, { ...service, slice, revision });
        const digest = createHash('sha1').update(encodeJson(last.spec)).digest('base64');
        return { from, peer, digest, last };
      });
    });
  }
}

function rootOf(object: KubeObject | undefined): Root {
  return { uid: object?.metadata.uid, isElsewhere: textAt(object?.spec, 'type') === 'ExternalName' };
}

/** As of another uid it is not what the Placement says. */
function serves({ uid, isElsewhere }: Root, { placement }: Service): boolean {
  return uid === placement.spec?.ref.uid && !isElsewhere;
}

function isService({ group, resource }: { group: string; resource: string }): boolean {
  return group === '' && resource === 'services';
}

function placeOf(placementKey: string): NamespacePlace {
  const { cluster: logical, namespace } = parseKey(placementsStored, placementKey);
  return { logical, namespace };
}

function nameKey({ logical, namespace }: NamespacePlace, name: string): string {
  return `${logical}/${namespace}/${name}`;
}
