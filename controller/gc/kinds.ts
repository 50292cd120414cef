import type { DiscoveredResource } from '../../client/discovery.ts';
import type { Informer } from '../../client/informer.ts';
import { keyOf, logicalClusterOf } from '../../client/url.ts';
import { type CustomResourceDefinition, fromDefinition } from './resources.ts';

const byKind = 'gc/kind';

/**
 * Nothing is known of the objects of this kind there: it is not served, or not yet, or discovery did not answer. Work
 * on them is tried again; nothing is deleted meanwhile.
 */
export class KindNotServedError extends Error {
  constructor(kind: string, group: string, cluster: string | undefined) {
    const where = cluster === undefined ? '' : ` in logical cluster ${cluster}`;
    super(`no resource is known for ${kind}${group && `.${group}`}${where}`);
    this.name = 'KindNotServedError';
  }
}

/**
 * What a kind is called, in which version and scope it is served: in one logical cluster it may be another than in the
 * next. What is served everywhere comes before a definition of the same name, and that before another API server, as in the
 * API itself.
 */
export class Kinds {
  readonly #common = new Map<string, DiscoveredResource>();
  /** By logical cluster: what API servers of its own serve there. */
  readonly #others = new Map<string, readonly DiscoveredResource[]>();
  readonly #definitions: Informer<CustomResourceDefinition> | undefined;

  /** `definitions` of all logical clusters; undefined on a plain Kubernetes, where discovery tells of them too. */
  constructor(definitions: Informer<CustomResourceDefinition> | undefined) {
    this.#definitions = definitions;
    definitions?.addIndex(byKind, (crd) => [kindKey(logicalClusterOf(crd), crd)]);
  }

  /** What is served everywhere. Not `complete`: what is missing may only have failed to answer. */
  learn(common: readonly DiscoveredResource[], complete: boolean): void {
    if (complete) this.#common.clear();
    for (const resource of common) {
      this.#common.set(`kind/${resource.group}/${resource.kind}`, resource);
      this.#common.set(`resource/${resource.group}/${resource.resource}`, resource);
    }
  }

  /** What API servers of a logical cluster's own serve there, as far as they say; none: there are no such servers. */
  learnOthers(cluster: string, resources: readonly DiscoveredResource[]): void {
    if (resources.length > 0) this.#others.set(cluster, resources);
    else this.#others.delete(cluster);
  }

  /** Fails with KindNotServedError. */
  ofKind(cluster: string | undefined, group: string, kind: string): DiscoveredResource {
    const common = this.#common.get(`kind/${group}/${kind}`);
    if (common) return common;
    const found = this.#definitions?.byIndex(byKind, `${cluster}/${group}/${kind}`) ?? [];
    const [resource] = found.flatMap((crd) => fromDefinition(crd) ?? []);
    const other = () => this.#other(cluster, (one) => one.group === group && one.kind === kind);
    const served = resource ?? other();
    if (served) return served;
    throw new KindNotServedError(kind, group, cluster);
  }

  /** Fails with KindNotServedError. */
  ofResource(
    cluster: string | undefined,
    { group, resource: plural }: { group: string; resource: string },
  ): DiscoveredResource {
    const common = this.#common.get(`resource/${group}/${plural}`);
    if (common) return common;
    const crd = this.#definitions?.get(keyOf(cluster ?? '', '', `${plural}.${group}`));
    const other = () => this.#other(cluster, (one) => one.group === group && one.resource === plural);
    const resource = (crd && fromDefinition(crd)) ?? other();
    if (resource) return resource;
    throw new KindNotServedError(plural, group, cluster);
  }

  #other(cluster: string | undefined, isIt: (one: DiscoveredResource) => boolean) {
    return this.#others.get(cluster ?? '')?.find(isIt);
  }
}

function kindKey(cluster: string, { spec }: CustomResourceDefinition): string {
  return `${cluster}/${spec?.group}/${spec?.names?.kind}`;
}
