import type { Informer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { rootCluster } from '../cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';

/** Objects of no namespace as a watch tells them, and as we have made and written them just now: the watch will tell. */
export class Newest {
  readonly #informer: Informer;
  readonly #made = new Map<string, KubeObject>();
  /** Over that version. */
  readonly #written = new Map<string, { over: string | undefined; object: KubeObject }>();

  constructor(informer: Informer) {
    this.#informer = informer;
    informer.on({
      delete: ({ metadata: { name = '' } }) => {
        this.#made.delete(name);
        this.#written.delete(name);
      },
    });
  }

  made(name: string, object: KubeObject): void {
    this.#made.set(name, object);
  }

  written(object: KubeObject): void {
    const { name = '' } = object.metadata;
    this.#written.set(name, { over: this.told(name)?.metadata.resourceVersion, object });
  }

  /** What was made is gone. */
  forget(name: string): void {
    this.#made.delete(name);
  }

  /** As it is told, or was made. */
  told(name: string): KubeObject | undefined {
    return this.#informer.get(keyOf(rootCluster, '', name)) ?? this.#made.get(name);
  }

  /** The same, with what was written over that. */
  get(name: string): KubeObject | undefined {
    const known = this.told(name);
    const written = this.#written.get(name);
    if (!known || !written) return known;
    if (known.metadata.resourceVersion === written.over) return written.object;
    this.#written.delete(name);
    return known;
  }
}
