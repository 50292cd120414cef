import type { Handlers } from '../../client/cache.ts';
import type { DiscoveredResource } from '../../client/discovery.ts';
import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import type { KubeObject } from '../../kube/object.ts';

interface Monitor {
  resource: DiscoveredResource;
  informer: Informer;
  stop: () => void;
}

export interface MonitorOptions {
  informers: InformerSet;
  handlers(resource: DiscoveredResource): Handlers<KubeObject>;
  /** The resource is served no more: its objects are gone. */
  onRemoved(resource: DiscoveredResource): void;
}

/** One watch per collectable resource: the shared cache where there is one, else one that keeps metadata only. */
export class Monitors {
  readonly #options: MonitorOptions;
  readonly #monitors = new Map<string, Monitor>();

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  get any(): boolean {
    return this.#monitors.size > 0;
  }

  get synced(): Promise<unknown> {
    return Promise.all([...this.#monitors.values()].map(({ informer }) => informer.synced));
  }

  /** `complete` false: what is missing may only have failed to answer, and stays. */
  set(resources: readonly DiscoveredResource[], complete: boolean): void {
    const wanted = new Map(resources.map((resource) => [keyOf(resource), resource]));
    for (const [key, monitor] of this.#monitors) {
      if (wanted.has(key) || !complete) continue;
      monitor.stop();
      this.#monitors.delete(key);
      this.#options.onRemoved(monitor.resource);
    }
    for (const [key, resource] of wanted) {
      if (!this.#monitors.has(key)) this.#monitors.set(key, this.#start(resource));
    }
  }

  #start(resource: DiscoveredResource): Monitor {
    const { informers, handlers } = this.#options;
    const { informer, release } = informers.borrow(resource, metadataOnly);
    const leave = informer.on(handlers(resource));
    const stop = () => {
      leave();
      release();
    };
    return { resource, informer, stop };
  }
}

export function metadataOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { labels: _labels, managedFields: _fields, annotations = {}, ...kept } = metadata;
  // Ours say where the object is; users' can be large.
  const few = Object.entries(annotations).filter(([name]) => /^(kcp\.io|atoll\.dev)\//.test(name));
  return { apiVersion, kind, metadata: { ...kept, annotations: Object.fromEntries(few) } };
}

function keyOf({ group, version, resource }: DiscoveredResource): string {
  return `${group}/${version}/${resource}`;
}
