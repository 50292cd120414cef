import type { OtherVersion } from '../../kube/discovery/others.ts';
import { otherResources } from '../../kube/discovery/others.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { decodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { Pieces } from '../../kube/pieces.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { AggregatedService } from './api-service.ts';

/** Of what one server says of one version. */
const mostBytes = 512 << 10;
const bounds = {
  /** Of what is kept of one logical cluster's, as it would be written. */
  ofCluster: 4 << 20,
  /** Of all, in this process. */
  ofAll: 32 << 20,
};
/** What is kept of one that has said nothing. */
const ofNothing = 1 << 10;
/** As long as what was said counts as it is. */
const freshMs = 30_000;
/** Whoever asks what there is waits no longer for it. */
const waitMs = 2_000;

interface Known {
  /** By what the APIService says; one that changes is asked anew. */
  edition: string;
  at: number;
  /** Whether what it said last could be taken. */
  isTaken: boolean;
  bytes: number;
  resources: readonly JsonObject[];
  asking: Promise<void> | undefined;
}

interface OfCluster {
  bytes: number;
  known: Map<string, Known>;
}

type Ask = (cluster: string, service: AggregatedService) => Promise<ApiResponse>;

/** What other API servers serve, as they said it last: asked when somebody wants to know, seldom, and by nobody else's time. */
export class OtherResources {
  readonly #ask: Ask;
  readonly #bounds: typeof bounds;
  /** By logical cluster, the one that was asked about longest ago first. */
  readonly #clusters = new Map<string, OfCluster>();
  #bytes = 0;

  constructor(ask: Ask, most = bounds) {
    this.#ask = ask;
    this.#bounds = most;
  }

  /** What is kept in this process, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** No others are there: what the rest said is forgotten. */
  retain(cluster: string, services: readonly AggregatedService[]): void {
    const of = this.#clusters.get(cluster);
    if (of === undefined) return;
    const editions = new Map(services.map(({ name, edition }) => [name, edition]));
    for (const [name, { edition }] of of.known) {
      if (editions.get(name) !== edition) this.#forget(of, name);
    }
    if (of.known.size === 0) this.#clusters.delete(cluster);
  }

  /** With its resources: those that it had last where it does not answer now. */
  async of(cluster: string, service: AggregatedService, version: OtherVersion): Promise<OtherVersion> {
    const known = this.#knownOf(cluster, service);
    if (service.available && performance.now() - known.at > freshMs)
      await this.#renewed(cluster, service, known);
    const isFresh = service.available && known.isTaken && performance.now() - known.at <= freshMs;
    return { ...version, stale: !isFresh, resources: known.resources };
  }

  #knownOf(cluster: string, { name, edition }: AggregatedService): Known {
    const of = this.#clusters.get(cluster) ?? { bytes: 0, known: new Map<string, Known>() };
    this.#clusters.delete(cluster);
    this.#clusters.set(cluster, of);
    const there = of.known.get(name);
    if (there?.edition === edition) return there;
    this.#forget(of, name);
    const at = Number.NEGATIVE_INFINITY;
    const known = { edition, at, isTaken: false, bytes: ofNothing, resources: [], asking: undefined };
    of.known.set(name, known);
    this.#count(of, ofNothing);
    this.#makeRoom(cluster);
    return known;
  }

  async #renewed(cluster: string, service: AggregatedService, known: Known): Promise<void> {
    known.asking ??= this.#read(cluster, service, known)
      .catch(() => undefined)
      .finally(() => {
        known.asking = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([known.asking, late]);
    clearTimeout(timer);
  }

  async #read(cluster: string, service: AggregatedService, known: Known): Promise<void> {
    const { status, body } = await this.#ask(cluster, service);
    const pieces = new Pieces();
    let isLong = false;
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      pieces.add(piece);
      isLong = pieces.length > mostBytes;
      if (isLong) break;
    }
    if (status !== 200) return;
    this.#take(cluster, service, known, isLong ? undefined : resourcesIn(pieces.whole(), service));
  }

  /** What is too much, or cannot be read, is not asked for again so soon either. */
  #take(cluster: string, { name }: AggregatedService, known: Known, resources?: JsonObject[]): void {
    const of = this.#clusters.get(cluster);
    if (of?.known.get(name) !== known) return;
    const bytes = ofNothing + (resources ? Buffer.byteLength(JSON.stringify(resources)) : 0);
    const hasRoom = of.bytes - known.bytes + bytes <= this.#bounds.ofCluster;
    known.at = performance.now();
    known.isTaken = resources !== undefined && hasRoom;
    if (!resources || !hasRoom) return;
    this.#count(of, bytes - known.bytes);
    Object.assign(known, { bytes, resources });
    this.#makeRoom(cluster);
  }

  #makeRoom(besides: string): void {
    for (const [cluster, of] of this.#clusters) {
      if (this.#bytes <= this.#bounds.ofAll) return;
      if (cluster === besides) continue;
      this.#bytes -= of.bytes;
      this.#clusters.delete(cluster);
    }
  }

  #count(of: OfCluster, bytes: number): void {
    of.bytes += bytes;
    this.#bytes += bytes;
  }

  #forget(of: OfCluster, name: string): void {
    const known = of.known.get(name);
    if (known && of.known.delete(name)) this.#count(of, -known.bytes);
  }
}

function resourcesIn(document: Uint8Array, service: AggregatedService): JsonObject[] | undefined {
  try {
    const { value } = decodeJson(document);
    return isRecord(value) ? otherResources(value, service) : undefined;
  } catch {
    return undefined;
  }
}
