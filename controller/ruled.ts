import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { keyOf, logicalClusterOf } from '../client/url.ts';
import { ruledKind, type WorkloadKind } from '../cluster/kinds.ts';
import { rootCluster } from '../cluster/names.ts';
import { type PlacedResource, placedResources } from '../cluster/placed-resource.ts';
import { asRuled } from '../cluster/ruled.ts';
import type { ObjectRef, Placement } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import { type GroupVersionResource, groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from './gc/resources.ts';

type Resource = Pick<GroupVersionResource, 'group' | 'resource'>;
type Told = (informer: Informer, resource: Resource) => void;

/**
 * The custom resources that rules, and Placements of before, are about: one informer for each that some logical cluster
 * defines, begun when it is first needed. It lists the objects of all logical clusters, whichever version theirs are in.
 * Nothing of it is waited for at the start: see isKnown.
 */
export class RuledKinds {
  /** In root. */
  readonly rules: Informer<PlacedResource>;
  readonly definitions: Informer<CustomResourceDefinition>;
  readonly #informers: Pick<InformerSet, 'for'>;
  readonly #begun = new Map<string, { resource: Resource; informer: Informer }>();
  /** Asked for, and defined nowhere: it has no objects, and could not be listed. */
  readonly #wanted = new Map<string, Resource>();
  readonly #told: Told[] = [];
  readonly #kinds = new WeakMap<PlacedResource, WorkloadKind>();

  constructor(informers: Pick<InformerSet, 'for'>, placements: Informer<Placement>) {
    this.#informers = informers;
    this.rules = informers.for<PlacedResource>(placedResources, { cluster: rootCluster });
    this.definitions = informers.for<CustomResourceDefinition>(customResourceDefinitions);
    this.definitions.addIndex(byName, ({ spec }) => (spec ? [nameOf(resourceOf(spec))] : []));
    const ofRule = ({ spec }: PlacedResource) => spec && this.#ask(spec);
    const ofPlacement = ({ spec }: Placement) => spec?.ref.rule && this.#ask(spec.ref);
    this.rules.on({ add: ofRule, update: ofRule });
    placements.on({ add: ofPlacement, update: ofPlacement });
    const defined = ({ spec }: CustomResourceDefinition) => {
      const wanted = spec && this.#wanted.get(nameOf(resourceOf(spec)));
      if (wanted) this.#ask(wanted);
    };
    this.definitions.on({ add: defined, update: defined });
  }

  /** `told` of each informer that there is, and of each that comes. */
  on(told: Told): void {
    this.#told.push(told);
    for (const { informer, resource } of this.#begun.values()) told(informer, resource);
  }

  /** Resolves when all that was asked for by now is known, or `within` has passed: one kind that does not answer stops nobody. */
  async settled(within: number, signal: AbortSignal): Promise<void> {
    const all = Promise.all([...this.#begun.values()].map(({ informer }) => informer.synced));
    await Promise.race([all, sleep(within, signal)]);
  }

  /** Whether it may be said of an object that it is not there. */
  isKnown(resource: Resource): boolean {
    if (!this.rules.hasSynced || !this.definitions.hasSynced) return false;
    return this.of(resource)?.hasSynced ?? this.#versionOf(resource) === undefined;
  }

  of(resource: Resource): Informer | undefined {
    return this.#begun.get(nameOf(resource))?.informer;
  }

  all(): Iterable<{ resource: Resource; informer: Informer }> {
    return this.#begun.values();
  }

  /**
   * By the rule as it is where the object's own logical cluster serves the version that it names; else by that by which it
   * was placed before. Undefined: it is not placed.
   */
  kindOf(object: KubeObject, resource: Resource, placed: ObjectRef | undefined): WorkloadKind | undefined {
    const rule = this.#ruleOf(resource);
    if (rule && this.#isServed(logicalClusterOf(object), rule)) return rule;
    return placed?.rule && placed.uid === object.metadata.uid ? ruledKind(placed, placed.rule) : undefined;
  }

  #ruleOf(resource: Resource): WorkloadKind | undefined {
    const found = this.rules.get(keyOf(rootCluster, '', nameOf(resource)));
    if (!found?.spec) return undefined;
    const known = this.#kinds.get(found);
    if (known) return known;
    const { group, version, resource: plural, ...rule } = found.spec;
    const kind = ruledKind({ group, version, resource: plural }, rule);
    this.#kinds.set(found, kind);
    return kind;
  }

  #ask({ group, resource }: Resource): void {
    const of = { group, resource };
    const name = nameOf(of);
    if (this.#begun.has(name)) return;
    const version = this.#versionOf(of);
    if (version === undefined) {
      this.#wanted.set(name, of);
      return;
    }
    this.#wanted.delete(name);
    const informer = this.#informers.for({ group, version, resource });
    this.#begun.set(name, { resource: of, informer });
    for (const told of this.#told) told(informer, of);
  }

  /** One that some logical cluster serves. */
  #versionOf(resource: Resource): string | undefined {
    return this.definitions.byIndex(byName, nameOf(resource)).flatMap(servedVersions)[0];
  }

  #isServed(cluster: string, { group, version, resource }: GroupVersionResource): boolean {
    const own = this.definitions.get(keyOf(cluster, '', nameOf({ group, resource })));
    return own !== undefined && servedVersions(own).includes(version);
  }
}

/** As it is decided about. */
export function shownAs(object: KubeObject, { rule }: Pick<WorkloadKind, 'rule'>): KubeObject {
  return rule ? asRuled(object, rule) : object;
}

const byName = 'ruled/name';

function servedVersions({ spec }: CustomResourceDefinition): string[] {
  if (spec?.scope !== 'Namespaced') return [];
  return (spec.versions ?? []).flatMap(({ name, served }) => (served ? [name] : []));
}

function resourceOf({ group, names }: { group: string; names: { plural: string } }): Resource {
  return { group, resource: names.plural };
}

const nameOf = groupResource;
