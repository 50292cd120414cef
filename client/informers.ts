import { placements } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Client } from './client.ts';
import { type Informer, type InformerOptions, startInformer } from './informer.ts';
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

/** One informer per resource, shared by everybody who asks; the first to ask starts it. */
export class InformerSet {
  readonly #client: Client;
  readonly #options: InformerSetOptions;
  readonly #informers = new Map<string, Informer>();

  constructor(client: Client, options: InformerSetOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** `*` when these informers read across logical clusters. */
  get cluster(): string | undefined {
    return this.#options.cluster ?? this.#client.cluster;
  }

  for<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    first: Pick<InformerOptions<T>, 'cluster' | 'transform' | 'idleMs'> = {},
  ): Informer<T> {
    const key = keyOf(resource);
    const existing = this.#informers.get(key);
    // One resource has one type of object: what the first caller named.
    if (existing) return existing as unknown as Informer<T>;
    const { keep, ...options } = this.#options;
    if (key === keyOf(placements) && this.cluster === '*') {
      const informer = startPlacementInformer(this.#client, options);
      this.#informers.set(key, informer as unknown as Informer);
      return informer as unknown as Informer<T>;
    }
    const transform = keep?.(resource);
    const informer = startInformer<T>(this.#client, resource, {
      ...options,
      ...(transform && { transform }),
      ...first,
    });
    this.#informers.set(key, informer as unknown as Informer);
    return informer;
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

  /** All that were asked for so far are synced. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }
}

function keyOf(resource: ResourceRef): string {
  return `${resource.group}/${resource.version}/${resource.resource}`;
}
