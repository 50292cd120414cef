import { placements } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Client } from './client.ts';
import { type Informer, type InformerOptions, type StartedInformer, startInformer } from './informer.ts';
import { type PlacementInformer, startPlacementInformer } from './placements.ts';
import type { ResourceRef } from './url.ts';

export interface InformerSetOptions {
  /** For all of them; default: the client's. */
  cluster?: string | undefined;
  signal: AbortSignal;
  logger?: Logger | undefined;
  /** What is kept of a resource's objects, where a caller does not say; undefined: as informers do. */
  keep?: (resource: ResourceRef) => (<T extends KubeObject>(object: T) => T) | undefined;
}

/** Of whoever asks first for a resource. */
export interface First<T extends KubeObject>
  extends Pick<InformerOptions<T>, 'cluster' | 'transform' | 'idleMs'> {
  /** Of all logical clusters also to whom only some of them concern: see SharedInformers. One `cluster` is always whole. */
  everywhere?: boolean;
}

/** What is watched as long as somebody has it. */
export interface Borrowed<I extends Informer = Informer> {
  informer: I;
  release(): void;
}

/** One informer per resource, shared by everybody who asks; the first to ask starts it. */
export class InformerSet {
  readonly #client: Client;
  readonly #options: InformerSetOptions;
  readonly #informers = new Map<string, StartedInformer>();
  readonly #lent = new Map<string, { informer: StartedInformer; to: number; end: AbortController }>();

  constructor(client: Client, options: InformerSetOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** `*` when these informers read across logical clusters. */
  get cluster(): string | undefined {
    return this.#options.cluster ?? this.#client.cluster;
  }

  for<T extends KubeObject = KubeObject>(resource: ResourceRef, first: First<T> = {}): Informer<T> {
    return this.started(resource, first);
  }

  /** Of all logical clusters: fails where these informers read one. */
  placements(): PlacementInformer {
    const informer = this.for<Placement>(placements);
    if (!('said' in informer))
      throw new Error('Placements are read with what is said of them in all logical clusters at once');
    return informer as PlacementInformer;
  }

  /** Only if somebody has asked for it. */
  peek(resource: ResourceRef): Informer | undefined {
    return this.#informers.get(keyOf(resource));
  }

  /** Everybody's where there is one; else one that keeps `less` of its objects, and ends once nobody has it. All say the same `less`. */
  borrow(resource: ResourceRef, less: (object: KubeObject) => KubeObject): Borrowed {
    return this.lend(resource, less);
  }

  /** All that were asked for so far are synced. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  /** As `for`: for whoever shares it with others. */
  started<T extends KubeObject>(resource: ResourceRef, first: First<T>): StartedInformer<T> {
    const key = keyOf(resource);
    const existing = this.#informers.get(key);
    // One resource has one type of object: what the first caller named.
    if (existing) return existing as unknown as StartedInformer<T>;
    const { keep, ...options } = this.#options;
    if (key === keyOf(placements) && this.cluster === '*') {
      const informer = startPlacementInformer(this.#client, options);
      this.#informers.set(key, informer as unknown as StartedInformer);
      return informer as unknown as StartedInformer<T>;
    }
    const { everywhere: _everywhere, ...asked } = first;
    const transform = keep?.(resource);
    const informer = startInformer<T>(this.#client, resource, {
      ...options,
      ...(transform && { transform }),
      ...asked,
    });
    this.#informers.set(key, informer as unknown as StartedInformer);
    return informer;
  }

  /** As `borrow`: for whoever shares it with others. */
  lend(resource: ResourceRef, less: (object: KubeObject) => KubeObject): Borrowed<StartedInformer> {
    const key = keyOf(resource);
    const shared = this.#informers.get(key);
    if (shared) return { informer: shared, release: () => {} };
    const lent = this.#lent.get(key) ?? this.#begin(resource, less);
    this.#lent.set(key, lent);
    lent.to++;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      if (--lent.to > 0) return;
      lent.end.abort();
      this.#lent.delete(key);
    };
    return { informer: lent.informer, release };
  }

  #begin(resource: ResourceRef, transform: (object: KubeObject) => KubeObject) {
    const { signal, logger } = this.#options;
    const end = new AbortController();
    const stop = () => end.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    end.signal.addEventListener('abort', () => signal.removeEventListener('abort', stop), { once: true });
    const options = { cluster: this.cluster, signal: end.signal, logger, transform };
    return { informer: startInformer(this.#client, resource, options), to: 0, end };
  }
}

export function keyOf(resource: ResourceRef): string {
  return `${resource.group}/${resource.version}/${resource.resource}`;
}
