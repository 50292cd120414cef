import { setMaxListeners } from 'node:events';
import type { Placement } from '../cluster/types.ts';
import { silentLogger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Client } from './client.ts';
import { faced, facedPlacements, IndexUsers, type Viewer } from './faced.ts';
import type { Informer, StartedInformer } from './informer.ts';
import { type Borrowed, type First, InformerSet, type InformerSetOptions, keyOf } from './informers.ts';
import type { PlacementInformer } from './placements.ts';
import type { ResourceRef } from './url.ts';

export interface SharedInformersOptions extends Omit<InformerSetOptions, 'signal'> {
  /**
   * Has every watch told how far it is, of those that can be: what is quiet would not be known to have reached a revision for a
   * minute.
   */
  askProgress(): void;
}

export interface FaceOptions {
  /** Ends the face: nothing that was asked of it is left, and it tells nothing any more. */
  signal: AbortSignal;
  /** Which logical clusters concern it; default all. */
  includes?: (cluster: string) => boolean;
  /** Its informers count as synced once they have all that was written up to this revision. */
  since: number;
}

/**
 * One set of informers for several who come and go, as long as any is there. Each has its own face of it, an InformerSet
 * that shows, but for `get`, only what concerns it.
 */
export class SharedInformers {
  readonly #client: Client;
  readonly #options: SharedInformersOptions;
  #set: { informers: InformerSet; end: AbortController; faces: number } | undefined;
  readonly #indexes = new IndexUsers();
  readonly #asking: Asking;

  constructor(client: Client, options: SharedInformersOptions) {
    this.#client = client;
    this.#options = options;
    this.#asking = new Asking(() => options.askProgress());
  }

  face({ signal, includes, since }: FaceOptions): InformerSet {
    const set = this.#set ?? this.#begin();
    set.faces++;
    const own = new AbortController();
    setMaxListeners(0, own.signal);
    const viewer: Viewer = {
      includes,
      signal: own.signal,
      indexes: this.#indexes,
      reached: (informer, until) => {
        const waits = { resource: informer.resource, revision: since };
        return this.#asking.during(this.#saidWhere(informer.reached(since, until), waits));
      },
    };
    const end = () => {
      own.abort(signal.reason);
      if (--set.faces > 0) return;
      set.end.abort(signal.reason);
      this.#set = undefined;
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return new Face(set.informers, viewer, this.#client, { ...this.#options, signal: own.signal });
  }

  /** What waits here leads something that nobody else does meanwhile: its log says for what. */
  async #saidWhere(answer: Promise<void>, waits: object): Promise<void> {
    const { logger = silentLogger } = this.#options;
    const timer = setInterval(() => logger.warn(waits, 'has not yet heard all that it has to know'), tellMs);
    try {
      await answer;
    } finally {
      clearInterval(timer);
    }
  }

  #begin() {
    const end = new AbortController();
    const { askProgress: _ask, ...options } = this.#options;
    this.#set = {
      informers: new InformerSet(this.#client, { ...options, signal: end.signal }),
      end,
      faces: 0,
    };
    return this.#set;
  }
}

class Face extends InformerSet {
  readonly #shared: InformerSet;
  readonly #viewer: Viewer;
  readonly #whole: Viewer;
  readonly #shown = new Map<string, Informer>();

  constructor(shared: InformerSet, viewer: Viewer, client: Client, options: InformerSetOptions) {
    super(client, options);
    this.#shared = shared;
    this.#viewer = viewer;
    const { includes: _some, ...whole } = viewer;
    this.#whole = whole;
  }

  override for<T extends KubeObject = KubeObject>(resource: ResourceRef, first: First<T> = {}): Informer<T> {
    const isWhole = first.everywhere === true || first.cluster !== undefined;
    const started = this.#shared.started<T>(resource, first);
    return this.#show(resource, started as unknown as StartedInformer, isWhole) as unknown as Informer<T>;
  }

  override peek(resource: ResourceRef): Informer | undefined {
    return this.#shared.peek(resource) && this.for(resource);
  }

  override borrow(resource: ResourceRef, less: (object: KubeObject) => KubeObject): Borrowed {
    const { informer, release } = this.#shared.lend(resource, less);
    const end = new AbortController();
    const ended = () => {
      this.#viewer.signal.removeEventListener('abort', ended);
      end.abort(this.#viewer.signal.reason);
      release();
    };
    if (this.#viewer.signal.aborted) ended();
    else this.#viewer.signal.addEventListener('abort', ended, { once: true });
    return { informer: faced(informer, { ...this.#viewer, signal: end.signal }), release: ended };
  }

  override async synced(): Promise<void> {
    await Promise.all([...this.#shown.values()].map((informer) => informer.synced));
  }

  #show(resource: ResourceRef, started: StartedInformer, isWhole: boolean): Informer {
    const key = `${isWhole ? 'whole ' : ''}${keyOf(resource)}`;
    const viewer = isWhole ? this.#whole : this.#viewer;
    const known =
      this.#shown.get(key) ??
      (arePlacements(started) ? facedPlacements(started, viewer) : faced(started, viewer));
    this.#shown.set(key, known);
    return known;
  }
}

function arePlacements(
  informer: Informer,
): informer is (PlacementInformer & StartedInformer<Placement>) & Informer {
  return 'said' in informer;
}

const mostMs = 5_000;
const tellMs = 30_000;

/** Asks again and again, less often each time, while anybody waits. */
class Asking {
  readonly #ask: () => void;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  async during(answer: Promise<void>): Promise<void> {
    this.#waiting++;
    this.#in(0);
    try {
      await answer;
    } finally {
      if (--this.#waiting === 0) clearTimeout(this.#timer);
    }
  }

  #in(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ask();
      this.#in(Math.min(mostMs, 2 * ms || 50));
    }, ms);
  }
}
