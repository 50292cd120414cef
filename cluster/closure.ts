import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { type LabelSelector, labelSelectorFromObject, labelSelectorFromSet } from '../kube/selector.ts';
import { StatusError } from '../kube/status.ts';
import { isPlaceable, isSelectorless, type PlacedKind, serviceOfEndpoints } from './kinds.ts';
import { podReferences, podTemplate } from './podspec.ts';
import { at, listAt, mapAt, textAt } from './read.ts';
import type { ClosureRef } from './types.ts';

/** An object of a namespace together with what kind it is. */
export interface PlacedObject {
  kind: PlacedKind;
  object: KubeObject;
}

export function refKey(ref: ClosureRef): string {
  return `${groupResource(ref)}/${ref.name}`;
}

/**
 * Everything of `objects` (one namespace's) that must be where the workload is: what its pods name, what selects
 * them, what routes to or scales them. Sorted, without repeats; a name that does not exist (yet) is left out,
 * and so is what is never pushed.
 */
export function closureOf(workload: KubeObject, objects: readonly PlacedObject[]): ClosureRef[] {
  const { labels, spec } = podTemplate(workload);
  const found = new Map<string, ClosureRef>();
  const byKey = new Map(objects.map((placed) => [refKey(refOf(placed)), placed]));
  const add = (ref: ClosureRef) => {
    const placed = byKey.get(refKey(ref));
    if (placed?.kind.role !== 'closure' || !isPlaceable(placed.kind, placed.object)) return;
    found.set(refKey(ref), ref);
  };
  for (const ref of podReferences(spec)) {
    if (ref.resource === 'serviceaccounts') serviceAccountReferences(byKey.get(refKey(ref))).forEach(add);
    add(ref);
  }
  const services = objects.filter(
    (o) => o.kind.resource === 'services' && servesPods(o.object, workload, labels),
  );
  const named = (of: PlacedObject[]) => new Set(of.map((o) => o.object.metadata.name ?? ''));
  const serviceNames = named(services);
  const bare = named(services.filter((o) => isSelectorless(o.object)));
  for (const placed of objects) {
    if (belongs(placed, workload, labels, { all: serviceNames, bare })) add(refOf(placed));
    if (placed.kind.resource === 'ingresses' && routesTo(placed.object, serviceNames)) {
      for (const tls of listAt(placed.object, 'spec', 'tls')) {
        const name = textAt(tls, 'secretName');
        if (name) add({ group: '', resource: 'secrets', name });
      }
    }
  }
  return [...found.values()].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

export function refOf({ kind, object }: PlacedObject): ClosureRef {
  return { group: kind.group, resource: kind.resource, name: object.metadata.name ?? '' };
}

/** Which Endpoints and EndpointSlices are a user's own, given the Services of their namespace. */
export function isUsersEndpoints(object: KubeObject, services: ReadonlyMap<string, KubeObject>): boolean {
  const service = services.get(serviceOfEndpoints(object));
  return service === undefined || isSelectorless(service);
}

function belongs(
  { kind, object }: PlacedObject,
  workload: KubeObject,
  labels: Record<string, string>,
  services: { all: ReadonlySet<string>; bare: ReadonlySet<string> },
): boolean {
  switch (kind.resource) {
    case 'services':
      return services.all.has(object.metadata.name ?? '');
    case 'endpoints':
    case 'endpointslices':
      return services.bare.has(serviceOfEndpoints(object));
    case 'ingresses':
      return routesTo(object, services.all);
    case 'horizontalpodautoscalers':
      return scales(object, workload);
    case 'poddisruptionbudgets':
      return selects(at(object, 'spec', 'selector'), labels);
    case 'networkpolicies':
      return selects(at(object, 'spec', 'podSelector'), labels);
    default:
      return false;
  }
}

/** A Service without selector may be what any pod of the namespace talks to. */
function servesPods(service: KubeObject, workload: KubeObject, labels: Record<string, string>): boolean {
  if (workload.kind === 'StatefulSet' && textAt(workload, 'spec', 'serviceName') === service.metadata.name) {
    return true;
  }
  if (isSelectorless(service)) return true;
  return labelSelectorFromSet(mapAt(service, 'spec', 'selector') ?? {}).matches(labels);
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
