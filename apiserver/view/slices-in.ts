import { setImmediate } from 'node:timers/promises';
import { serviceNameLabel } from '../../cluster/endpoints.ts';
import { reportedAnnotation } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { listEntries } from '../registry/rewrite.ts';
import { type NamespacePlace, slicesStored } from './places.ts';

export interface SliceIn {
  key: string;
  slice: KubeObject;
}

type ByService = ReadonlyMap<string, readonly SliceIn[]>;

/** Those who watch are told of the same change at about the same time. */
const mostReadings = 16;
const keptMs = 5_000;
const decodedAtOnce = 50;
const mark = Buffer.from(`"${reportedAnnotation}":`);

export function serviceOf({ metadata }: KubeObject): string {
  return metadata.labels?.[serviceNameLabel] ?? '';
}

/** The slices of Namespaces that clusters have reported: one reading for all who ask for a Namespace at one revision. */
export class SlicesIn {
  readonly #store: Store;
  readonly #readings = new Map<string, Promise<ByService>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Nobody may change what they are given. */
  async of(place: NamespacePlace, service: string, revision: number): Promise<readonly SliceIn[]> {
    const key = `${place.logical}/${place.namespace}@${revision}`;
    const known = this.#readings.get(key) ?? this.#begin(key, place, revision);
    return (await known).get(service) ?? [];
  }

  #begin(key: string, place: NamespacePlace, revision: number): Promise<ByService> {
    const reading = this.#read(place, revision);
    this.#readings.set(key, reading);
    reading.catch(() => this.#readings.delete(key));
    setTimeout(() => this.#readings.delete(key), keptMs).unref();
    const [oldest] = this.#readings.keys();
    if (this.#readings.size > mostReadings && oldest !== undefined) this.#readings.delete(oldest);
    return reading;
  }

  async #read({ logical, namespace }: NamespacePlace, revision: number): Promise<ByService> {
    const scope = { resource: slicesStored, cluster: logical, namespace };
    const { entries } = await listEntries(this.#store, scope, { revision });
    const found = new Map<string, SliceIn[]>();
    let decoded = 0;
    for (const entry of entries) {
      const { buffer, byteOffset, byteLength } = entry.value;
      if (!Buffer.from(buffer, byteOffset, byteLength).includes(mark)) continue;
      const slice = decodeStored(entry);
      const service = serviceOf(slice);
      const all = found.get(service) ?? [];
      all.push({ key: entry.key, slice });
      found.set(service, all);
      decoded++;
      if (decoded % decodedAtOnce === 0) await setImmediate();
    }
    return found;
  }
}
