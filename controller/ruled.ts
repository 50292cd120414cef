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
import { type CustomResourceDefinition, customResourceDefinitions, hasNames } from './gc/resources.ts';

type Resource = Pick<GroupVersionResource, 'group' | 'resource'>;
interface Begun {
  resource: Resource;
  informer: Informer;
}
type Told = (informer: Informer, resource: Resource) => void;

/**
 * The custom resources that rules, and Placements of before, are about: one informer for each that some logical cluster
 * serves, begun when it is first needed. It lists the objects of all logical clusters, whichever version theirs are in: in
 * the rule's version where anybody serves that, and never in one that nobody serves any more. Nothing of it is waited for
 * at the start: see isKnown.
 */
export class RuledKinds {
  /** In root. */
  readonly rules: Informer<PlacedResource>;
  readonly definitions: Informer<CustomResourceDefinition>;
  readonly #informers: Pick<InformerSet, 'for'>;
  readonly #asked = new Map<string, Resource>();
  readonly #begun = new Map<string, Begun>();
  /** Those that take their place as soon as they have listed all. */
  readonly #next = new Map<string, Begun>();
  readonly #seen = new Set<Informer>();
  readonly #told: Told[] = [];
  readonly #known: Told[] = [];
  readonly #kinds = new WeakMap<PlacedResource, WorkloadKind>();

  constructor(informers: Pick<InformerSet, 'for'>, placements: Informer<Placement>) {
    this.#informers = informers;
    this.rules = informers.for<PlacedResource>(placedResources, { cluster: rootCluster });
    this.definitions = informers.for<CustomResourceDefinition>(customResourceDefinitions, {
      everywhere: true,
    });
    this.definitions.addIndex(byName, ({ spec }) => (spec ? [nameOf(resourceOf(spec))] : []));
    const ofRule = ({ spec }: PlacedResource) => spec && this.#ask(spec);
    const ofPlacement = ({ spec }: Placement) => spec?.ref.rule && this.#ask(spec.ref);
    this.rules.on({ add: ofRule, update: ofRule });
    placements.on({ add: ofPlacement, update: ofPlacement });
    const asked = ({ spec }: CustomResourceDefinition) => spec && this.#asked.get(nameOf(resourceOf(spec)));
    const defined = (crd: CustomResourceDefinition) => {
      const resource = asked(crd);
      if (resource && !this.#isAsWanted(resource, crd)) this.#begin(resource);
    };
    const gone = (crd: CustomResourceDefinition) => {
      const resource = asked(crd);
      if (resource) this.#begin(resource);
    };
    this.definitions.on({ add: defined, update: defined, delete: gone });
  }

  /** `told` of each informer that there is, and of each that comes. */
  on(told: Told): void {
    this.#told.push(told);
    for (const { informer, resource } of [...this.#begun.values(), ...this.#next.values()])
      told(informer, resource);
  }

  /** `told` whenever another informer's list begins to count. */
  onKnown(told: Told): void {
    this.#known.push(told);
  }

  /** Resolves when all that was asked for by now is known, or `within` has passed: one kind that does not answer stops nobody. */
  async settled(within: number, signal: AbortSignal): Promise<void> {
    const begun = [...this.#begun.values(), ...this.#next.values()];
    await Promise.race([Promise.all(begun.map(({ informer }) => informer.synced)), sleep(within, signal)]);
  }

  /** Whether it may be said of an object of this logical cluster that it is not there. What nobody serves is stored still. */
  isKnown(resource: Resource, cluster: string): boolean {
    if (!this.rules.hasSynced || !this.definitions.hasSynced) return false;
    return !this.isDefined(resource, cluster) || this.of(resource)?.hasSynced === true;
  }

  /** Where it is not, no object of it is left, whatever an informer holds. */
  isDefined(resource: Resource, cluster: string): boolean {
    const own = this.definitions.get(keyOf(cluster, '', nameOf(resource)));
    return own !== undefined && hasNames(own);
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
    if (!this.isDefined(resource, logicalClusterOf(object))) return undefined;
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
    this.#asked.set(nameOf(of), of);
    this.#begin(of);
  }

  /** Of a resource that thousands define alike, all but the first change nothing: not all of them are looked at for each. */
  #isAsWanted(resource: Resource, crd: CustomResourceDefinition): boolean {
    const name = nameOf(resource);
    const version = this.#begun.get(name)?.informer.resource.version;
    if (version === undefined || this.#next.has(name) || version !== this.#ruleOf(resource)?.version)
      return false;
    return servedVersions(crd).includes(version);
  }

  /** What there is goes on to count until another has listed all. */
  #begin(of: Resource): void {
    const name = nameOf(of);
    const begun = this.#begun.get(name);
    const version = this.#versionOf(of, begun?.informer.resource.version);
    if (version === undefined || version === begun?.informer.resource.version) {
      this.#next.delete(name);
      return;
    }
    if (version === this.#next.get(name)?.informer.resource.version) return;
    const fresh = { resource: of, informer: this.#informers.for({ ...of, version }) };
    if (begun?.informer.hasSynced) this.#next.set(name, fresh);
    else this.#begun.set(name, fresh);
    if (!this.#seen.has(fresh.informer)) for (const told of this.#told) told(fresh.informer, of);
    this.#seen.add(fresh.informer);
    fresh.informer.synced.then(
      () => this.#count(name, fresh),
      () => {},
    );
  }

  #count(name: string, fresh: Begun): void {
    if (this.#next.get(name) === fresh) {
      this.#next.delete(name);
      this.#begun.set(name, fresh);
    }
    if (this.#begun.get(name) !== fresh) return;
    for (const told of this.#known) told(fresh.informer, fresh.resource);
  }

  /** One that some logical cluster serves: the rule's, else that which it is in already. */
  #versionOf(resource: Resource, begun: string | undefined): string | undefined {
    const served = this.definitions.byIndex(byName, nameOf(resource)).flatMap(servedVersions);
    const wanted = [this.#ruleOf(resource)?.version, begun];
    return wanted.find((version) => version !== undefined && served.includes(version)) ?? served.sort()[0];
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

function servedVersions(crd: CustomResourceDefinition): string[] {
  const { spec } = crd;
  if (spec?.scope !== 'Namespaced' || !hasNames(crd)) return [];
  return (spec.versions ?? []).flatMap(({ name, served }) => (served ? [name] : []));
}

function resourceOf({ group, names }: { group: string; names: { plural: string } }): Resource {
  return { group, resource: names.plural };
}

const nameOf = groupResource;
