import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { keyOf } from '../client/url.ts';
import { ruledKind, type WorkloadKind } from '../cluster/kinds.ts';
import { rootCluster } from '../cluster/names.ts';
import { type KindRule, type PlacedResource, placedResources } from '../cluster/placed-resource.ts';
import { asRuled } from '../cluster/ruled.ts';
import type { ObjectRef, Placement } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import { formatApiVersion, type GroupVersionResource, groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from './gc/resources.ts';

type Told = (informer: Informer, resource: GroupVersionResource) => void;

/**
 * The custom resources that rules, and Placements of before, are about: one informer for each that some logical cluster
 * defines, begun when it is first needed. Nothing of it is waited for at the start: see isKnown.
 */
export class RuledKinds {
  /** In root. */
  readonly rules: Informer<PlacedResource>;
  readonly definitions: Informer<CustomResourceDefinition>;
  readonly #informers: Pick<InformerSet, 'for'>;
  readonly #begun = new Map<string, { resource: GroupVersionResource; informer: Informer }>();
  /** Asked for, and defined nowhere: it has no objects, and could not be listed. */
  readonly #wanted = new Map<string, GroupVersionResource>();
  readonly #told: Told[] = [];
  readonly #kinds = new WeakMap<PlacedResource, WorkloadKind>();

  constructor(informers: Pick<InformerSet, 'for'>, placements: Informer<Placement>) {
    this.#informers = informers;
    this.rules = informers.for<PlacedResource>(placedResources, { cluster: rootCluster });
    this.definitions = informers.for<CustomResourceDefinition>(customResourceDefinitions);
    const ofRule = ({ spec }: PlacedResource) => spec && this.#ask(spec);
    const ofPlacement = ({ spec }: Placement) => spec?.ref.rule && this.#ask(spec.ref);
    this.rules.on({ add: ofRule, update: ofRule });
    placements.on({ add: ofPlacement, update: ofPlacement });
    const defined = () => {
      for (const resource of this.#wanted.values()) this.#ask(resource);
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
  isKnown(resource: GroupVersionResource): boolean {
    if (!this.rules.hasSynced || !this.definitions.hasSynced) return false;
    return this.of(resource)?.hasSynced ?? !this.#isDefined(resource);
  }

  of(resource: GroupVersionResource): Informer | undefined {
    return this.#begun.get(nameOf(resource))?.informer;
  }

  *all(): Iterable<{ resource: GroupVersionResource; informer: Informer }> {
    yield* this.#begun.values();
  }

  /** By what its Placement, if there is one, was placed by before, where no rule says it now. Undefined: it is not placed. */
  kindOf(object: KubeObject, resource: GroupVersionResource, placed: ObjectRef | undefined): WorkloadKind | undefined {
    // In its logical cluster the definition may not have this version.
    if (object.apiVersion !== formatApiVersion(resource)) return undefined;
    const rule = this.#ruleOf(resource);
    if (rule) return rule;
    const isOf = placed?.uid === object.metadata.uid && placed?.version === resource.version;
    return isOf && placed?.rule ? ruledKind(resource, placed.rule) : undefined;
  }

  #ruleOf({ group, version, resource }: GroupVersionResource): WorkloadKind | undefined {
    const found = this.rules.get(keyOf(rootCluster, '', groupResource({ group, resource })));
    if (found?.spec?.version !== version || found.spec.group !== group) return undefined;
    const known = this.#kinds.get(found);
    if (known) return known;
    const { group: _group, version: _version, resource: _resource, ...rule } = found.spec;
    const kind = ruledKind({ group, version, resource }, rule as KindRule);
    this.#kinds.set(found, kind);
    return kind;
  }

  #ask({ group, version, resource }: GroupVersionResource): void {
    const of = { group, version, resource };
    const key = nameOf(of);
    if (this.#begun.has(key)) return;
    if (!this.#isDefined(of)) {
      this.#wanted.set(key, of);
      return;
    }
    this.#wanted.delete(key);
    const informer = this.#informers.for(of);
    this.#begun.set(key, { resource: of, informer });
    for (const told of this.#told) told(informer, of);
  }

  #isDefined({ group, version, resource }: GroupVersionResource): boolean {
    for (const { spec } of this.definitions.values()) {
      if (spec?.group !== group || spec.names?.plural !== resource || spec.scope !== 'Namespaced') continue;
      if (spec.versions?.some(({ name, served }) => served && name === version)) return true;
    }
    return false;
  }
}

/** As it is decided about. */
export function shownAs(object: KubeObject, { rule }: Pick<WorkloadKind, 'rule'>): KubeObject {
  return rule ? asRuled(object, rule) : object;
}

function nameOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}
