import { rootCluster } from '../../cluster/names.ts';
import { builtinResources, schemaOf } from '../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import type { ServedResource } from '../served.ts';

const builtins: readonly ServedResource[] = builtinResources.map((info) => ({
  info,
  schema: schemaOf(info) ?? { type: 'any' },
}));

/** So many of those that went, the last ones: what is older than their end may be told of a moment later, not after so many others. */
const rememberedEnds = 1_000;

/**
 * What is served where: built-ins and our own kinds in every logical cluster, custom resources in the one whose
 * CustomResourceDefinition names them.
 */
export class Catalog {
  readonly #common: readonly ServedResource[];
  readonly #commonGroups: ReadonlySet<string>;
  readonly #commonIndex = new Map<string, ServedResource>();
  /** What is served everywhere wins over a CRD of one logical cluster, so it needs no look at those. */
  readonly #commonStored = new Map<string, ServedResource>();
  /** By logical cluster, then by the CRD's name. */
  readonly #custom = new Map<string, Map<string, readonly ServedResource[]>>();
  /** Of each definition the newest that is known, also of one that went lately. */
  readonly #revisions = new Map<string, number>();
  /** The keys of those that serve nothing, in the order in which they went. */
  readonly #ended = new Set<string>();
  /** Who waits for a definition to serve something else. */
  readonly #awaiting = new Map<string, Set<Tell>>();
  #generation = 0;

  constructor(own: readonly ServedResource[]) {
    this.#common = [...builtins, ...own];
    this.#commonGroups = new Set(this.#common.map(({ info }) => info.group));
    for (const served of this.#common) this.#commonIndex.set(indexKey(served.info), served);
    for (const { info } of this.#common) {
      const key = `${info.group}/${info.resource}`;
      if (this.#commonStored.has(key)) continue;
      const stored = this.#findStored(rootCluster, info.group, info.resource);
      if (stored) this.#commonStored.set(key, stored);
    }
  }

  /** Changes whenever what is served there changes. */
  generationOf(cluster: string): number {
    return this.hasCustom(cluster) ? this.#generation : 0;
  }

  find(cluster: string, group: string, version: string, resource: string): ServedResource | undefined {
    const key = indexKey({ group, version, resource });
    const found = this.#commonIndex.get(key);
    if (found) return found;
    const places = cluster === '*' ? this.#custom.values() : [this.#custom.get(cluster) ?? new Map()];
    for (const place of places) {
      const definition = place.get(`${resource}.${group}`);
      const served = definition?.find((s: ServedResource) => indexKey(s.info) === key);
      if (served) return served;
    }
    return undefined;
  }

  /** The resource in the version in which it is stored. */
  stored(cluster: string, group: string, resource: string): ServedResource | undefined {
    return this.#commonStored.get(`${group}/${resource}`) ?? this.#findStored(cluster, group, resource);
  }

  #findStored(cluster: string, group: string, resource: string): ServedResource | undefined {
    const any = this.#list(cluster).find((s) => s.info.group === group && s.info.resource === resource);
    if (any === undefined) return undefined;
    return this.find(cluster, group, any.info.storageVersion, resource) ?? any;
  }

  /** What is served in every logical cluster. */
  get common(): readonly ServedResource[] {
    return this.#common;
  }

  /** Whether a group is served in every logical cluster, and so is nobody else's in any. */
  isCommon(group: string): boolean {
    return this.#commonGroups.has(group);
  }

  resources(cluster: string): readonly ServedResource[] {
    return this.#list(cluster);
  }

  /** Whether anything is served there that is not served everywhere. */
  hasCustom(cluster: string): boolean {
    return cluster === '*' ? this.#custom.size > 0 : this.#custom.has(cluster);
  }

  infos(cluster: string): readonly ResourceInfo[] {
    return this.resources(cluster).map((served) => served.info);
  }

  /**
   * What a CRD serves as of the store's `revision`; empty when it went. What is older than known is left out: a
   * write tells it at once, and the watch of all servers' writes once more.
   */
  define(cluster: string, definition: string, served: readonly ServedResource[], revision: number): void {
    const key = `${cluster}/${definition}`;
    if (revision <= (this.#revisions.get(key) ?? 0)) return;
    this.#revisions.set(key, revision);
    this.#remember(key, served.length === 0);
    this.#generation++;
    const place = this.#custom.get(cluster) ?? new Map<string, readonly ServedResource[]>();
    if (served.length > 0) place.set(definition, served);
    else place.delete(definition);
    if (place.size > 0) this.#custom.set(cluster, place);
    else this.#custom.delete(cluster);
    for (const tell of [...(this.#awaiting.get(key) ?? [])]) tell(served);
  }

  /** Of how many definitions it is known how new they are. */
  get known(): number {
    return this.#revisions.size;
  }

  #remember(key: string, hasEnded: boolean): void {
    this.#ended.delete(key);
    if (hasEnded) this.#ended.add(key);
    if (this.#ended.size <= rememberedEnds) return;
    const [oldest = ''] = this.#ended;
    this.#ended.delete(oldest);
    this.#revisions.delete(oldest);
  }

  /** Calls `run` once a webhook converts between the versions of a definition, now or later, until the answer is called. */
  onConverted(cluster: string, definition: string, run: () => void): () => void {
    return this.#onDefined(cluster, definition, (served) => {
      if (served.some(({ conversion }) => conversion?.config !== undefined)) run();
    });
  }

  /** Calls `run` once a version of a definition is not served any more, until the answer is called. */
  onUnserved(cluster: string, definition: string, version: string, run: () => void): () => void {
    return this.#onDefined(cluster, definition, (served) => {
      if (!served.some(({ info }) => info.version === version)) run();
    });
  }

  /** Tells what is served now, and whatever is later. */
  #onDefined(cluster: string, definition: string, tell: Tell): () => void {
    const key = `${cluster}/${definition}`;
    tell(this.definedBy(cluster, definition));
    const waiting = this.#awaiting.get(key) ?? new Set();
    this.#awaiting.set(key, waiting.add(tell));
    return () => {
      waiting.delete(tell);
      if (waiting.size === 0 && this.#awaiting.get(key) === waiting) this.#awaiting.delete(key);
    };
  }

  definedBy(cluster: string, definition: string): readonly ServedResource[] {
    return this.#custom.get(cluster)?.get(definition) ?? [];
  }

  #list(cluster: string): readonly ServedResource[] {
    const places = cluster === '*' ? [...this.#custom.values()] : [this.#custom.get(cluster)];
    const custom = places.flatMap((place) => (place === undefined ? [] : [...place.values()].flat()));
    return custom.length === 0 ? this.#common : [...this.#common, ...custom];
  }
}

type Tell = (served: readonly ServedResource[]) => void;

function indexKey(of: { group: string; version: string; resource: string }): string {
  return `${of.group}/${of.version}/${of.resource}`;
}
