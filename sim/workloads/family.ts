import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer.ts';
import type { ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';

const index = 'family';

/** By the uid of whoever controls it, or by its namespace where nobody does. */
function familyOf({ metadata: { namespace = '', ownerReferences = [] } }: KubeObject): string[] {
  return [ownerReferences.find(({ controller }) => controller)?.uid ?? `orphans/${namespace}`];
}

/**
 * What a workload controls, and what it might adopt, read afresh: a cache tells which those are, beside what was made
 * here and is not in it yet. However many others are in the namespace, they are not looked at.
 */
export class Family {
  readonly #client: Client;
  readonly #resource: ResourceRef;
  readonly #cache: Informer;
  /** By the workload's uid, names of what it was given and the cache has not shown yet. */
  readonly #born = new Map<string, Set<string>>();

  constructor(client: Client, resource: ResourceRef, cache: Informer) {
    this.#client = client;
    this.#resource = resource;
    this.#cache = cache;
    cache.addIndex(index, familyOf);
  }

  /** @param fits whether labels are those of something that the workload adopts. */
  async of(workload: KubeObject, fits: (labels: Record<string, string>) => boolean): Promise<KubeObject[]> {
    const { namespace = '', uid = '' } = workload.metadata;
    const own = this.#cache.byIndex(index, uid);
    const orphans = this.#cache
      .byIndex(index, `orphans/${namespace}`)
      .filter(({ metadata }) => fits(metadata.labels ?? {}));
    const born = this.#born.get(uid) ?? new Set();
    for (const { metadata } of own) born.delete(metadata.name ?? '');
    if (born.size === 0) this.#born.delete(uid);
    const names = new Set([...[...own, ...orphans].map(({ metadata }) => metadata.name ?? ''), ...born]);
    const found = await Promise.all([...names].map((name) => this.#read(namespace, name)));
    return found.filter((child) => child !== undefined);
  }

  /** The workload was given this one just now. */
  born({ metadata: { uid = '' } }: KubeObject, child: KubeObject): void {
    const names = this.#born.get(uid) ?? new Set();
    this.#born.set(uid, names.add(child.metadata.name ?? ''));
  }

  /** The workload is gone. */
  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#born.delete(uid);
  }

  async #read(namespace: string, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.#client.get(this.#resource, { namespace, name });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      return undefined;
    }
  }
}
