import { formatApiVersion, parseApiVersion } from '../../kube/gvk.ts';
import { decodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';
import { encodeStored } from '../registry/codec.ts';
import type { Converting } from '../registry/converting.ts';
import { asDefined, shaped } from '../registry/kinds/defined.ts';
import { isStale, markStale } from '../registry/stale.ts';
import type { ServedResource } from '../served.ts';
import { type Converter, stamped } from './converter.ts';

/** The stored objects of one definition in one logical cluster, as they are in one of its versions. */
export class Versions implements Converting {
  readonly #converter: Converter;
  readonly #cluster: string;
  readonly #served: () => ServedResource;

  /** @param served the version, as the definition is by now. */
  constructor(converter: Converter, cluster: string, served: () => ServedResource) {
    this.#converter = converter;
    this.#cluster = cluster;
    this.#served = served;
  }

  /** In their order. What would be written in another version than it is stored in now is marked so. */
  async shown(entries: readonly Entry[], old = false): Promise<Entry[]> {
    const served = this.#served();
    const all = entries.map((entry) => {
      const own = asDefined(entry, served, old);
      return { object: plain(own.value), size: own.value.length, entry: own };
    });
    const made = await this.#converter.convert(this.#cluster, served, all);
    return all.map(({ object, entry }, index) => {
      const now = made[index] ?? object;
      const shown = now === object ? { ...entry } : { ...entry, value: encodeStored(shaped(now, served)) };
      const stored = parseApiVersion(object.apiVersion).version;
      const given = entries[index];
      if (stored !== served.info.storageVersion || (given && isStale(given))) markStale(shown);
      return shown;
    });
  }

  /** As `shown`, for those who watch: what one of them was told of is not asked for again. */
  async shared(entries: readonly Entry[], old = false): Promise<Entry[]> {
    const { forms } = this.#converter;
    const values = new Map<string, Promise<Uint8Array>>();
    const missing = new Map<string, Entry>();
    for (const entry of entries) {
      const id = this.#formOf(entry);
      const there = forms.get(id);
      if (there === undefined) missing.set(id, entry);
      else values.set(id, there);
    }
    // Together, and each by itself to whoever asks for it meanwhile.
    const making = missing.size > 0 ? this.shown([...missing.values()], old) : Promise.resolve([]);
    for (const [index, [id, entry]] of [...missing].entries()) {
      const value = making.then((made) => (made[index] ?? entry).value);
      forms.set(id, value);
      values.set(id, value);
    }
    const made = await Promise.all(entries.map((entry) => values.get(this.#formOf(entry))));
    return entries.map((entry, index) => ({ ...entry, value: made[index] ?? entry.value }));
  }

  #formOf({ key, revision }: Entry): string {
    const { info, conversion } = this.#served();
    return `${conversion?.revision} ${info.version} ${revision} ${key}`;
  }

  async written(object: KubeObject): Promise<KubeObject> {
    const { resourceVersion } = object.metadata;
    const stored = plain(await this.stored(encodeStored(object)));
    const served = this.#served();
    const [made = stored] = await this.#converter.convert(this.#cluster, served, [
      { object: stored, size: 0 },
    ]);
    const shown = made === stored ? stored : shaped(made, served);
    return resourceVersion ? { ...shown, metadata: { ...shown.metadata, resourceVersion } } : shown;
  }

  async inVersion(object: KubeObject, as: ServedResource): Promise<KubeObject> {
    const [made = object] = await this.#converter.convert(this.#cluster, as, [{ object, size: 0 }]);
    return made;
  }

  /** What is to be stored of an object in this version. */
  async stored(value: Uint8Array): Promise<Uint8Array> {
    const served = this.#served();
    const { conversion } = served;
    const { group, storageVersion } = served.info;
    if (conversion === undefined) {
      const object = stamped(plain(value), formatApiVersion({ group, version: storageVersion }));
      return encodeStored(object);
    }
    const storage = conversion.versions.get(storageVersion);
    if (storage === undefined || storage.info.version === served.info.version) return value;
    const all = [{ object: plain(value), size: value.length }];
    const [made] = await this.#converter.convert(this.#cluster, storage, all);
    return made === undefined ? value : encodeStored(shaped(made, storage));
  }
}

function plain(value: Uint8Array): KubeObject {
  return decodeJson(value).value as unknown as KubeObject;
}
