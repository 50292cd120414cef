import { deferred } from '../client/informer.ts';
import { isLost } from '../cluster/lost.ts';
import { logicalClusterAnnotation, rootCluster } from '../cluster/names.ts';
import type { ReflectedKind } from '../cluster/reflected.ts';
import { sleep } from '../kube/clock.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import { isAltered, type Reflected } from './reflected.ts';

const resyncMs = 300_000;
/** After a reading that failed. */
const rereadMs = 10_000;

interface Shows {
  /** Whether an object is there, by `<physical namespace>/<name>`. */
  isThere(key: string): boolean;
  /** What is shown under this key is to be looked at. */
  look(key: string): void;
}

/** What the logical clusters hold of one kind of ours, by `<physical namespace>/<name>`. */
export class Shown {
  readonly #engine: Engine;
  readonly #kind: ReflectedKind;
  readonly #shows: Shows;
  readonly #reflected = new Map<string, Reflected>();
  readonly #first = deferred();
  /** The first reading has begun. */
  #begun = false;
  /** It was read at least once. */
  #hasRead = false;
  /** It failed last, and is done again soon. */
  #isWaiting = false;

  constructor(engine: Engine, kind: ReflectedKind, shows: Shows) {
    this.#engine = engine;
    this.#kind = kind;
    this.#shows = shows;
  }

  get(key: string): Reflected | undefined {
    return this.#reflected.get(key);
  }

  set(key: string, reflected: Reflected): void {
    this.#reflected.set(key, reflected);
  }

  delete(key: string): void {
    this.#reflected.delete(key);
  }

  /** Something is shown, or may be. */
  get mayBe(): boolean {
    return !this.#hasRead || this.#reflected.size > 0;
  }

  /** It was read, or could not be. */
  get firstRead(): Promise<void> {
    return this.#first.promise;
  }

  /** Not before it is known which namespaces are whose: what has no place is withdrawn. */
  async readFirst(): Promise<void> {
    this.#begun = true;
    await this.read();
    this.#first.resolve();
  }

  /** Reads it now and then, while something is shown or `isAwake`. */
  resync(isAwake: () => boolean): void {
    const { signal } = this.#engine;
    const resync = setInterval(() => {
      if (isAwake() || this.mayBe) void this.read();
    }, resyncMs);
    signal.addEventListener('abort', () => clearInterval(resync), { once: true });
  }

  /** From before a restart too: what is not there any more goes. Not before readFirst. */
  async read(): Promise<void> {
    if (!this.#begun) return;
    const { upstream, signal, logger } = this.#engine;
    try {
      const list = await upstream.list(this.#kind, { signal });
      const uids = new Map<string, string | undefined>();
      for (const object of list.items) {
        const key = this.#note(object);
        uids.set(key, object.metadata.uid);
        this.#shows.look(key);
      }
      this.#sayAgain(uids);
      this.#hasRead = true;
    } catch (err) {
      if (signal.aborted) return;
      logger.warn({ err, kind: this.#kind.kind }, 'cannot list what was reflected');
      void this.#readLater();
    }
  }

  #note(object: KubeObject): string {
    const { namespace = '', name = '', annotations, uid, creationTimestamp: created } = object.metadata;
    const cluster = annotations?.[logicalClusterAnnotation] ?? rootCluster;
    const key = this.#keyOf(cluster, namespace, name);
    // What was taken for lost, or was altered there, is put anew, though nothing has changed here.
    const known = this.#reflected.get(key);
    if (!known || isLost(object) || isAltered(this.#kind, object)) {
      const reflected = { created, source: undefined, ...known, cluster, namespace, uid, digest: '' };
      this.#reflected.set(key, reflected);
    }
    return key;
  }

  /**
   * What several clusters have as one may be made anew here without our part, and by others: what is not shown of us, or is another
   * one than we know, is put again. `uids`: of what is shown of us.
   */
  #sayAgain(uids: ReadonlyMap<string, string | undefined>): void {
    if (!this.#kind.shared) return;
    for (const [key, known] of this.#reflected) {
      if (uids.get(key) === known.uid) continue;
      this.#reflected.set(key, { ...known, digest: '' });
      this.#shows.look(key);
    }
  }

  async #readLater(): Promise<void> {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    await sleep(rereadMs, this.#engine.signal);
    this.#isWaiting = false;
    if (!this.#engine.signal.aborted) await this.read();
  }

  /** Of what is there; where nothing is any more, of a place where nothing can be. */
  #keyOf(cluster: string, namespace: string, name: string): string {
    const places = this.#engine.namespaces.of(cluster, namespace);
    const place = places.find((physical) => this.#shows.isThere(`${physical}/${name}`)) ?? places[0];
    return `${place ?? `${cluster}|${namespace}`}/${name}`;
  }
}
