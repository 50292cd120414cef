import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import { type LabelSelector, labelSelectorFromObject, labelSelectorFromSet } from '../kube/selector.ts';
import { StatusError } from '../kube/status.ts';
import { at, listAt, mapAt, strings, textAt } from '../kube/untyped.ts';
import { claimsNamed } from './claims.ts';
import { isSelectorless, type PlacedKind, type Reach, serviceOfEndpoints } from './kinds.ts';
import { isPlaceable } from './placeable.ts';
import { isOfOnePod, ordinalNamed, selectsPodOf, templateOf } from './pod-labels.ts';
import { podReferences } from './pod-spec.ts';
import { ruledReferences } from './ruled.ts';
import type { ClosureRef } from './types.ts';

/** An object of a namespace together with what kind it is. */
export interface PlacedObject {
  kind: PlacedKind;
  object: KubeObject;
}

/** Of an object that is not changed in place: one and the same each time. */
export function placedAs(kind: PlacedKind, object: KubeObject): PlacedObject {
  return placedBy(kind)(object);
}

const placedBy = perObject((kind: PlacedKind) =>
  perObject((object: KubeObject): PlacedObject => ({ kind, object })),
);

/** The refKey of the object. */
export const placedKey = perObject((placed: PlacedObject) => refKey(refOf(placed)));

export function refKey(ref: ClosureRef): string {
  return `${groupResource(ref)}/${ref.name}`;
}

/** The objects of one namespace, arranged once for closureOf. */
export interface NamespaceIndex {
  byKey: ReadonlyMap<string, PlacedObject>;
  /** Services by one `label=value` of their selector; under `ofOnePod` those that have none but of one pod, under '' those without a selector. */
  services: ReadonlyMap<string, readonly KubeObject[]>;
  /** Endpoints, Ingresses, autoscalers, budgets, network policies and limits. */
  attached: readonly PlacedObject[];
}

const ofOnePod = 'one pod';

export function indexNamespace(objects: readonly PlacedObject[]): NamespaceIndex {
  const services = new Map<string, KubeObject[]>();
  for (const { kind, object } of objects) {
    if (kind.resource !== 'services') continue;
    const pairs = isSelectorless(object) ? [] : Object.entries(mapAt(object, 'spec', 'selector') ?? {});
    const pair = pairs.find(([label]) => !isOfOnePod(label));
    const key = pair ? pair.join('=') : pairs.length > 0 ? ofOnePod : '';
    services.set(key, [...(services.get(key) ?? []), object]);
  }
  return {
    byKey: new Map(objects.map((placed) => [placedKey(placed), placed])),
    services,
    attached: objects.filter(({ kind }) => kind.role === 'closure' && belongings[kind.reach] !== undefined),
  };
}

/**
 * Everything in the workload's namespace that must be where the workload is: what its pods name, what selects
 * them, what routes to or scales them. Sorted, without repeats; a name that does not exist (yet) is left out,
 * and so is what is never pushed.
 */
export function closureOf(workload: KubeObject, { byKey, services, attached }: NamespaceIndex): ClosureRef[] {
  const found = new Map<string, ClosureRef>();
  const add = (ref: ClosureRef) => {
    const placed = byKey.get(refKey(ref));
    if (placed?.kind.role !== 'closure' || !isPlaceable(placed.kind, placed.object)) return;
    found.set(refKey(ref), ref);
  };
  for (const ref of namedByPods(workload)) {
    if (ref.resource === 'serviceaccounts') serviceAccountReferences(byKey.get(refKey(ref))).forEach(add);
    add(ref);
  }
  const serving = servicesOf(workload, services);
  const all = new Set(serving.map((service) => service.metadata.name ?? ''));
  const bare = new Set(serving.filter(isSelectorless).map((service) => service.metadata.name ?? ''));
  const governing = workload.kind === 'StatefulSet' && textAt(workload, 'spec', 'serviceName');
  if (governing) all.add(governing);
  for (const name of all) add({ group: '', resource: 'services', name });
  for (const placed of attached) {
    if (!belongs(placed, { workload, all, bare })) continue;
    add(refOf(placed));
    if (placed.kind.resource === 'ingresses') tlsSecrets(placed.object).forEach(add);
  }
  return [...found.values()].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

/** A StatefulSet's pods have names in this Service, which leads to none of them. */
export function onlyNames(service: KubeObject, workload: KubeObject): boolean {
  if (workload.kind !== 'StatefulSet' || textAt(workload, 'spec', 'serviceName') !== service.metadata.name)
    return false;
  return !leadsTo(service, workload);
}

/** What the pods of a workload, or it itself, name. */
export const namedByPods = perObject((workload: KubeObject): readonly ClosureRef[] => [
  ...podReferences(templateOf(workload).spec),
  ...claimsNamed(workload),
  ...ruledReferences(workload),
]);

/** One without selector may be what any pod of the namespace talks to. */
function servicesOf(workload: KubeObject, services: NamespaceIndex['services']): KubeObject[] {
  const { labels } = templateOf(workload);
  const keys = [...Object.entries(labels).map((pair) => pair.join('=')), ofOnePod];
  const candidates = keys.flatMap((key) => services.get(key) ?? []);
  return [...(services.get('') ?? []), ...candidates.filter((service) => leadsTo(service, workload))];
}

/** It selects single pods of a StatefulSet, not all of them. */
export function leadsToSome(service: KubeObject, workload: KubeObject): boolean {
  const { matches } = labelSelectorFromSet(mapAt(service, 'spec', 'selector') ?? {});
  return !matches(templateOf(workload).labels) && leadsTo(service, workload);
}

/** Of the one pod of a StatefulSet that it selects, the ordinal; undefined: it selects all of them, or none. */
export function ordinalLedTo(service: KubeObject, workload: KubeObject): number | undefined {
  if (!leadsToSome(service, workload)) return undefined;
  const selector = Object.entries(mapAt(service, 'spec', 'selector') ?? {});
  const [, value] = selector.find(([label]) => isOfOnePod(label)) ?? [];
  return value === undefined ? undefined : ordinalNamed(value);
}

function leadsTo(service: KubeObject, workload: KubeObject): boolean {
  const selector = mapAt(service, 'spec', 'selector') ?? {};
  const values = Object.entries(selector).map(([label, value]) => [label, [value]] as const);
  const { matches } = labelSelectorFromSet(selector);
  return selectsPodOf(workload, { values, matches });
}

function tlsSecrets(ingress: KubeObject): ClosureRef[] {
  return listAt(ingress, 'spec', 'tls').flatMap((tls) => {
    const name = textAt(tls, 'secretName');
    return name ? [{ group: '', resource: 'secrets', name }] : [];
  });
}

export function refOf({ kind, object }: PlacedObject): ClosureRef {
  return { group: kind.group, resource: kind.resource, name: object.metadata.name ?? '' };
}

/** Whether Endpoints or an EndpointSlice are a user's own, not computed from a Service's selector. */
export function isUsersEndpoints(object: KubeObject, { byKey }: NamespaceIndex): boolean {
  const name = serviceOfEndpoints(object);
  const service = byKey.get(refKey({ group: '', resource: 'services', name }));
  return service !== undefined && isSelectorless(service.object);
}

interface Wanting {
  workload: KubeObject;
  /** Names of the Services that serve it, and of those among them whose endpoints nobody computes. */
  all: ReadonlySet<string>;
  bare: ReadonlySet<string>;
}

/** What says itself to whom it belongs; undefined: a workload names it, or it serves one. */
const belongings: Record<Reach, ((object: KubeObject, wanting: Wanting) => boolean) | undefined> = {
  named: undefined,
  serves: undefined,
  backs: (object, { bare }) => bare.has(serviceOfEndpoints(object)),
  routes: (object, { all }) => routesTo(object, all),
  scales: (object, { workload }) => scales(object, workload),
  covers: (object, { workload }) => selects(podSelector(object), workload),
  limits: () => true,
};

function belongs({ kind, object }: PlacedObject, wanting: Wanting): boolean {
  return (kind.role === 'closure' && belongings[kind.reach]?.(object, wanting)) === true;
}

/** NetworkPolicies have one name for it, PodDisruptionBudgets another. */
function podSelector({ spec }: KubeObject): unknown {
  return at(spec, 'podSelector') ?? at(spec, 'selector');
}

/** A budget, or a network policy, is about single pods of a StatefulSet, not about all of them. */
export function coversSome(policy: KubeObject, workload: KubeObject): boolean {
  const selector = podSelector(policy);
  const all = matcherOf(selector)?.(templateOf(workload).labels);
  return all === false && selects(selector, workload);
}

function selects(selector: unknown, workload: KubeObject): boolean {
  const matches = matcherOf(selector);
  return matches !== undefined && selectsPodOf(workload, { values: valuesIn(selector), matches });
}

/** Undefined: nobody can read it. */
function matcherOf(selector: unknown): ((labels: Record<string, string>) => boolean) | undefined {
  try {
    return labelSelectorFromObject(selector as LabelSelector | undefined).matches;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function* valuesIn(selector: unknown): Iterable<[string, string[]]> {
  for (const [label, value] of Object.entries(mapAt(selector, 'matchLabels') ?? {})) yield [label, [value]];
  for (const one of listAt(selector, 'matchExpressions'))
    yield [textAt(one, 'key') ?? '', strings(at(one, 'values'))];
}

function scales(autoscaler: KubeObject, workload: KubeObject): boolean {
  const target = at(autoscaler, 'spec', 'scaleTargetRef');
  return textAt(target, 'kind') === workload.kind && textAt(target, 'name') === workload.metadata.name;
}

function routesTo(ingress: KubeObject, services: ReadonlySet<string>): boolean {
  return servicesBehind(ingress).some((name) => services.has(name));
}

export function servicesBehind(ingress: KubeObject): string[] {
  const backends = [
    at(ingress, 'spec', 'defaultBackend'),
    ...listAt(ingress, 'spec', 'rules').flatMap((rule) =>
      listAt(rule, 'http', 'paths').map((path) => at(path, 'backend')),
    ),
  ];
  return [...new Set(backends.flatMap((backend) => textAt(backend, 'service', 'name') ?? []))];
}

function serviceAccountReferences(placed: PlacedObject | undefined): ClosureRef[] {
  return ['secrets', 'imagePullSecrets']
    .flatMap((field) => listAt(placed?.object, field))
    .flatMap((item) => {
      const name = textAt(item, 'name');
      return name ? [{ group: '', resource: 'secrets', name }] : [];
    });
}
