import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import { type LabelSelector, labelSelectorFromObject, labelSelectorFromSet } from '../kube/selector.ts';
import { StatusError } from '../kube/status.ts';
import { at, listAt, mapAt, textAt } from '../kube/untyped.ts';
import { claimsNamed } from './claims.ts';
import { isSelectorless, type PlacedKind, type Reach, serviceOfEndpoints } from './kinds.ts';
import { isPlaceable } from './placeable.ts';
import { podReferences, podTemplate } from './pod-spec.ts';
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
  /** Services by one `label=value` of their selector; those without a selector under ''. */
  services: ReadonlyMap<string, readonly KubeObject[]>;
  /** Endpoints, Ingresses, autoscalers, budgets, network policies and limits. */
  attached: readonly PlacedObject[];
}

export function indexNamespace(objects: readonly PlacedObject[]): NamespaceIndex {
  const services = new Map<string, KubeObject[]>();
  for (const { kind, object } of objects) {
    if (kind.resource !== 'services') continue;
    const [pair] = isSelectorless(object) ? [] : Object.entries(mapAt(object, 'spec', 'selector') ?? {});
    const key = pair ? pair.join('=') : '';
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
  const { labels } = templateOf(workload);
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
  const serving = servicesOf(labels, services);
  const all = new Set(serving.map((service) => service.metadata.name ?? ''));
  const bare = new Set(serving.filter(isSelectorless).map((service) => service.metadata.name ?? ''));
  const governing = workload.kind === 'StatefulSet' && textAt(workload, 'spec', 'serviceName');
  if (governing) all.add(governing);
  for (const name of all) add({ group: '', resource: 'services', name });
  for (const placed of attached) {
    if (!belongs(placed, { workload, labels, all, bare })) continue;
    add(refOf(placed));
    if (placed.kind.resource === 'ingresses') tlsSecrets(placed.object).forEach(add);
  }
  return [...found.values()].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

/** A StatefulSet's pods have names in this Service, which leads to none of them. */
export function onlyNames(service: KubeObject, workload: KubeObject): boolean {
  if (workload.kind !== 'StatefulSet' || textAt(workload, 'spec', 'serviceName') !== service.metadata.name)
    return false;
  return !labelSelectorFromSet(mapAt(service, 'spec', 'selector') ?? {}).matches(templateOf(workload).labels);
}

const templateOf = perObject(podTemplate);

/** What the pods of a workload, or it itself, name. */
export const namedByPods = perObject((workload: KubeObject): readonly ClosureRef[] => [
  ...podReferences(templateOf(workload).spec),
  ...claimsNamed(workload),
  ...ruledReferences(workload),
]);

/** One without selector may be what any pod of the namespace talks to. */
function servicesOf(labels: Record<string, string>, services: NamespaceIndex['services']): KubeObject[] {
  const candidates = Object.entries(labels).flatMap((pair) => services.get(pair.join('=')) ?? []);
  const selecting = candidates.filter((service) =>
    labelSelectorFromSet(mapAt(service, 'spec', 'selector') ?? {}).matches(labels),
  );
  return [...(services.get('') ?? []), ...selecting];
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
  labels: Record<string, string>;
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
  covers: (object, { labels }) => selects(podSelector(object), labels),
  limits: () => true,
};

function belongs({ kind, object }: PlacedObject, wanting: Wanting): boolean {
  return (kind.role === 'closure' && belongings[kind.reach]?.(object, wanting)) === true;
}

/** NetworkPolicies have one name for it, PodDisruptionBudgets another. */
function podSelector({ spec }: KubeObject): unknown {
  return at(spec, 'podSelector') ?? at(spec, 'selector');
}

function selects(selector: unknown, labels: Record<string, string>): boolean {
  try {
    return labelSelectorFromObject(selector as LabelSelector | undefined).matches(labels);
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

function scales(autoscaler: KubeObject, workload: KubeObject): boolean {
  const target = at(autoscaler, 'spec', 'scaleTargetRef');
  return textAt(target, 'kind') === workload.kind && textAt(target, 'name') === workload.metadata.name;
}

function routesTo(ingress: KubeObject, services: ReadonlySet<string>): boolean {
  const backends = [
    at(ingress, 'spec', 'defaultBackend'),
    ...listAt(ingress, 'spec', 'rules').flatMap((rule) =>
      listAt(rule, 'http', 'paths').map((path) => at(path, 'backend')),
    ),
  ];
  return backends.some((backend) => services.has(textAt(backend, 'service', 'name') ?? ''));
}

function serviceAccountReferences(placed: PlacedObject | undefined): ClosureRef[] {
  return ['secrets', 'imagePullSecrets']
    .flatMap((field) => listAt(placed?.object, field))
    .flatMap((item) => {
      const name = textAt(item, 'name');
      return name ? [{ group: '', resource: 'secrets', name }] : [];
    });
}
