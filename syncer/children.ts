import { isMirrored } from '../cluster/endpoints.ts';
import { reflectedKinds } from '../cluster/reflected.ts';
import { groupResource } from '../kube/gvk.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import type { Owners } from './owners.ts';
import { readLocator } from './ownership.ts';
import { isYoung, ownerMayCome, reflectedMetadata, unknownMs } from './reflected.ts';
import { Reflector, type ToReflection } from './reflector.ts';

const maxBytes = 240 << 10;
/** The watch of Services may be behind the one of Endpoints. */
const serviceMs = 1_000;
/** The watch of pods may be behind, and a pod that was seen comes up next. */
const podMs = 50;

/** By kind: what controllers on the physical cluster make of our workloads, beside pods. */
export function childReflectors(engine: Engine, owners: Owners): Map<string, Reflector> {
  const child = childOf(engine, owners);
  return new Map(
    [
      ['ReplicaSet', 'replicasets'],
      ['Job', 'jobs'],
      ['ControllerRevision', 'controllerrevisions'],
      ['EndpointSlice', 'endpointslices'],
      ['Endpoints', 'endpoints'],
    ].map(([kind = '', resource = '']) => [kind, new Reflector(engine, resource, child)]),
  );
}

function childOf(engine: Engine, owners: Owners): ToReflection {
  return async (_key, object, place) => {
    // What bears a locator stands upstream itself; what is made of the user's Endpoints is made upstream too.
    if (!object || !place || readLocatorOfOwn(object) || isMirrored(object)) return undefined;
    const { namespace = '', name = '' } = object.metadata;
    const targets = new Targets(engine, namespace, place.namespace);
    if (object.kind === 'Endpoints') {
      if (!owners.ownsService(namespace, name)) return isYoung(object) ? { after: serviceMs } : undefined;
      const all = subsets(object, targets);
      if (targets.arePending) return { after: podMs };
      return { ...object, metadata: reflectedMetadata(object), subsets: all };
    }
    const root = await owners.rootOf(object);
    if (root && 'among' in root) return { after: unknownMs };
    if (!root) return ownerMayCome(object);
    const ownerReferences = root.reference ? [root.reference] : [];
    const metadata = { ...reflectedMetadata(object), ownerReferences };
    const body = {
      ...object,
      metadata,
      ...(object.kind === 'EndpointSlice' && endpoints(object, targets)),
    };
    if (targets.arePending) return { after: podMs };
    return Buffer.byteLength(encodeJson(body)) <= maxBytes ? body : undefined;
  };
}

/** A Deployment's controller copies annotations to its ReplicaSets, our locator among them: it names another kind. */
function readLocatorOfOwn(object: KubeObject): boolean {
  const kind = reflectedKinds.find((one) => one.kind === object.kind);
  return kind !== undefined && readLocator(object)?.resource === groupResource(kind);
}

function endpoints(slice: KubeObject, targets: Targets): object {
  const list = Array.isArray(slice['endpoints']) ? slice['endpoints'] : [];
  return {
    endpoints: list.map((endpoint: Target) => targets.of(endpoint)),
  };
}

interface Target {
  targetRef?: { kind?: string; name?: string; uid?: string };
}

/** A pod's name is the same up there, its namespace and uid are not. */
class Targets {
  /** A pod is on its way up, and has no uid there yet. */
  arePending = false;
  readonly #engine: Engine;
  readonly #namespace: string;
  readonly #logical: string;

  constructor(engine: Engine, namespace: string, logical: string) {
    this.#engine = engine;
    this.#namespace = namespace;
    this.#logical = logical;
  }

  of({ targetRef, ...rest }: Target): object {
    if (!targetRef) return rest;
    const { kind, name = '' } = targetRef;
    const uid =
      kind === 'Pod' ? this.#engine.shownUid(`${this.#namespace}/${name}`, targetRef.uid) : undefined;
    if (uid === 'pending') this.arePending = true;
    return { ...rest, targetRef: { kind, name, namespace: this.#logical, ...(uid && { uid }) } };
  }
}

function subsets(endpoints: KubeObject, targets: Targets): object[] {
  const list = Array.isArray(endpoints['subsets']) ? endpoints['subsets'] : [];
  return list.map((subset: Record<string, unknown>) => {
    const of = (field: string) => {
      const addresses = subset[field];
      return Array.isArray(addresses) && { [field]: addresses.map((address) => targets.of(address)) };
    };
    return { ...subset, ...of('addresses'), ...of('notReadyAddresses') };
  });
}
