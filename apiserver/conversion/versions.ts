import { formatApiVersion, parseApiVersion } from '../../kube/gvk.ts';
import { anyDepth, decodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { othersFirst } from '../../kube/others-first.ts';
import { isStatusError, StatusError } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';
import { encodeStored } from '../registry/codec.ts';
import type { Converting } from '../registry/converting.ts';
import { asDefined, shaped } from '../registry/kinds/defined.ts';
import { servedAs } from '../registry/kinds/versions.ts';
import { isStale, markStale } from '../registry/stale.ts';
import type { ServedResource } from '../served.ts';
import { type Converter, stamped } from './converter.ts';
import { Left } from './forms.ts';
import type { Keeping } from './kept.ts';
import { Pace, partsOf } from './parts.ts';
import { kindOf } from './review.ts';

/** As long as the body of a request, which it is stored in place of. */
const mostStored = 3 * 1024 * 1024;

export interface Showing {
  /** The bytes are older than the entries' revisions, as those of what was deleted are. */
  old?: boolean;
  /** What is converted is kept for it. */
  keeping?: Keeping | undefined;
  /** Of whoever waits: when it aborts nothing more is asked, and what was fails with its reason. */
  signal?: AbortSignal | undefined;
}

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

  /** In their order, part by part. What would be written in another version than it is stored in now is marked so. */
  async shown(entries: readonly Entry[], { old = false, keeping, signal }: Showing = {}): Promise<Entry[]> {
    const served = this.#served();
    const sizeOf = ({ value }: Entry) => (isDue(served, value) ? value.length : undefined);
    const shown: Entry[] = [];
    const pace = new Pace();
    for (const part of partsOf(entries, sizeOf)) {
      const own: Entry[] = [];
      for (const entry of part) {
        own.push(asDefined(entry, served, old));
        if (pace.isOver(entry.value.length)) await othersFirst(this.#cluster);
      }
      const made = await this.#made(own, { served, pace, keeping, signal });
      for (const [index, entry] of own.entries()) {
        const is = made.get(entry) ?? { entry: { ...entry }, from: served.info.version };
        const given = part[index];
        if (is.from !== served.info.storageVersion || (given && isStale(given))) markStale(is.entry);
        shown.push(is.entry);
      }
    }
    return shown;
  }

  /** What becomes of those that are in another version, which is `from`. */
  async #made(
    own: readonly Entry[],
    {
      served,
      pace,
      keeping,
      signal,
    }: Pick<Showing, 'keeping' | 'signal'> & { served: ServedResource; pace: Pace },
  ): Promise<Map<Entry, { entry: Entry; from: string }>> {
    const shown = new Map<Entry, { entry: Entry; from: string }>();
    const due = own.filter(({ value }) => isDue(served, value));
    if (due.length === 0) return shown;
    const objects = due.map(({ value }) => plain(value));
    await this.#converter.convert({ cluster: this.#cluster, served, signal }, objects, async (made) => {
      for (const [index, entry] of due.entries()) {
        const [object, now] = [objects[index] as KubeObject, made[index] as KubeObject];
        const value = now === object ? entry.value : encodeStored(taken(now, served));
        const is = { ...entry, value };
        // Without a webhook it is no more than what was read.
        if (now !== object && served.conversion?.config) keeping?.add(is);
        shown.set(entry, { entry: is, from: parseApiVersion(object.apiVersion).version });
        if (pace.isOver(value.length)) await othersFirst(this.#cluster);
      }
    });
    return shown;
  }

  /** As `shown`, for those who watch: what one of them was told of is not asked for again. */
  async shared(entries: readonly Entry[], { old, signal }: Showing = {}): Promise<Entry[]> {
    for (;;) {
      try {
        return await this.#together(entries, { old: old === true, signal });
      } catch (error) {
        if (!(error instanceof Left) || signal?.aborted) throw error;
      }
    }
  }

  async #together(entries: readonly Entry[], showing: Showing): Promise<Entry[]> {
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
    const making = missing.size > 0 ? this.shown([...missing.values()], showing) : Promise.resolve([]);
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
    const made = await this.#one(stored, served);
    const shown = made === stored ? stored : taken(made, served);
    return resourceVersion ? { ...shown, metadata: { ...shown.metadata, resourceVersion } } : shown;
  }

  inVersion(object: KubeObject, as: ServedResource): Promise<KubeObject> {
    return this.#one(object, as);
  }

  /** What is to be stored of an object in this version. */
  async stored(value: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    const served = this.#served();
    const { conversion } = served;
    const { group, storageVersion } = served.info;
    if (conversion === undefined) {
      const object = stamped(plain(value), formatApiVersion({ group, version: storageVersion }));
      return encodeStored(object);
    }
    const storage = conversion.versions.get(storageVersion);
    if (storage === undefined || storage.info.version === served.info.version) return value;
    const made = taken(await this.#one(plain(value), storage, signal), storage);
    const bytes = encodeStored(made);
    if (bytes.length <= mostStored) return bytes;
    throw refused(made, `it is ${bytes.length} bytes, the limit is ${mostStored}`);
  }

  #one(object: KubeObject, served: ServedResource, signal?: AbortSignal): Promise<KubeObject> {
    return this.#converter.one({ cluster: this.#cluster, served, signal }, object);
  }
}

/** What a webhook made, as the definition has it. */
function taken(made: KubeObject, served: ServedResource): KubeObject {
  try {
    return shaped(made, served);
  } catch (error) {
    throw isStatusError(error) ? refused(made, error.message) : error;
  }
}

function refused(made: KubeObject, why: string): StatusError {
  return new StatusError(500, '', `conversion webhook made an invalid ${kindOf(made)}: ${why}`);
}

/** Whether a stored object is in another version, as far as can be told without reading all of it. */
function isDue(served: ServedResource, value: Uint8Array): boolean {
  return served.conversion === undefined || servedAs(served, value) !== served;
}

function plain(value: Uint8Array): KubeObject {
  return decodeJson(value, anyDepth).value as unknown as KubeObject;
}
