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
 * What a workload controls, as a cache shows it, and what it might adopt, read afresh. What was written here is read,
 * too, until the cache shows it: nothing is made or removed twice, and however many children there are, and however
 * many others in the namespace, they are not asked for.
 */
export class Family {
  readonly #client: Client;
  readonly #resource: ResourceRef;
  readonly #cache: Pick<Informer, 'addIndex' | 'byIndex'>;
  /** By the workload's uid, versions by name of what was written and the cache has not shown yet. */
  readonly #written = new Map<string, Map<string, number>>();

  constructor(client: Client, resource: ResourceRef, cache: Pick<Informer, 'addIndex' | 'byIndex'>) {
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
    const written = this.#unseen(uid, own);
    const doubted = new Set([...orphans.map(({ metadata }) => metadata.name ?? ''), ...written.keys()]);
    const sure = own.filter(({ metadata }) => !doubted.has(metadata.name ?? ''));
    const read = await Promise.all([...doubted].map((name) => this.#read(namespace, name)));
    const there = read.filter((child) => child !== undefined);
    const known = new Set([...own, ...there].map(({ metadata }) => metadata.name ?? ''));
    for (const name of written.keys()) if (!known.has(name)) written.delete(name);
    return [...sure, ...there];
  }

  /** @param answer the object as the workload wrote it just now, or what a deletion that left nothing was answered with. */
  wrote({ metadata: { uid = '' } }: KubeObject, name: string, answer: KubeObject): void {
    const written = this.#written.get(uid) ?? new Map<string, number>();
    const version = Number(answer.metadata.resourceVersion ?? Number.POSITIVE_INFINITY);
    this.#written.set(uid, written.set(name, version));
  }

  /** The workload is gone. */
  forget({ metadata: { uid = '' } }: KubeObject): void {
    this.#written.delete(uid);
  }

  #unseen(uid: string, own: readonly KubeObject[]): Map<string, number> {
    const written = this.#written.get(uid) ?? new Map<string, number>();
    for (const { metadata } of own) {
      const version = written.get(metadata.name ?? '');
      if (version !== undefined && Number(metadata.resourceVersion) >= version)
        written.delete(metadata.name ?? '');
    }
    return written;
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
