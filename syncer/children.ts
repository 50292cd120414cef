import { encodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import type { Owners } from './owners.ts';
import { readLocator } from './ownership.ts';
import { isYoung, ownerMayCome, Reflector, reflectedMetadata, type ToReflection } from './reflector.ts';

const maxBytes = 240 << 10;
/** The watch of Services may be behind the one of Endpoints. */
const serviceMs = 1_000;
/** An event that is older says nothing about now: a syncer that starts does not bring up the past. */
const maxEventAgeMs = 3_600_000;

/** By kind: what controllers on the physical cluster make of our workloads, beside pods. */
export function childReflectors(engine: Engine, owners: Owners): Map<string, Reflector> {
  const child = childOf(owners);
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

export function eventReflector(engine: Engine): Reflector {
  return new Reflector(engine, 'events', eventOf(engine.name));
}

function childOf(owners: Owners): ToReflection {
  return async (_key, object, place) => {
    // What bears a locator stands upstream itself.
    if (!object || !place || readLocatorOfOwn(object)) return undefined;
    if (object.kind === 'Endpoints') {
      const { namespace = '', name = '' } = object.metadata;
      if (!owners.ownsService(namespace, name)) return isYoung(object) ? { after: serviceMs } : undefined;
      return { ...object, metadata: reflectedMetadata(object), subsets: subsets(object, place.namespace) };
    }
    const root = await owners.rootOf(object);
    if (!root) return ownerMayCome(object);
    const ownerReferences = root.reference ? [root.reference] : [];
    const metadata = { ...reflectedMetadata(object), ownerReferences };
    const body = {
      ...object,
      metadata,
      ...(object.kind === 'EndpointSlice' && endpoints(object, place.namespace)),
    };
    return Buffer.byteLength(encodeJson(body)) <= maxBytes ? body : undefined;
  };
}

/** A Deployment's controller copies annotations to its ReplicaSets, our locator among them: it names another kind. */
function readLocatorOfOwn(object: KubeObject): boolean {
  const resource = readLocator(object)?.resource;
  return resource?.startsWith(`${object.kind.toLowerCase()}s`) ?? false;
}

function endpoints(slice: KubeObject, namespace: string): object {
  const list = Array.isArray(slice['endpoints']) ? slice['endpoints'] : [];
  return {
    endpoints: list.map((endpoint: Target) => retarget(endpoint, namespace)),
  };
}

interface Target {
  targetRef?: { kind?: string; name?: string };
}

/** The pod's name is the same up there, its namespace and uid are not. */
function retarget({ targetRef, ...rest }: Target, namespace: string): object {
  if (!targetRef) return rest;
  return { ...rest, targetRef: { kind: targetRef.kind, name: targetRef.name, namespace } };
}

function subsets(endpoints: KubeObject, namespace: string): object[] {
  const list = Array.isArray(endpoints['subsets']) ? endpoints['subsets'] : [];
  return list.map((subset: Record<string, unknown>) => {
    const of = (field: string) => {
      const addresses = subset[field];
      return (
        Array.isArray(addresses) && { [field]: addresses.map((address) => retarget(address, namespace)) }
      );
    };
    return { ...subset, ...of('addresses'), ...of('notReadyAddresses') };
  });
}

interface About {
  involvedObject?: { kind?: string; namespace?: string };
  message?: string;
}

/** What several clusters have of one object would look as if it happened twice: their events say where. */
const eventOf =
  (cluster: string): ToReflection =>
  async (_key, event, place) => {
    const { namespace = '', name = '', labels, creationTimestamp } = event?.metadata ?? {};
    if (!event || !place) return undefined;
    const { involvedObject, message } = event as unknown as About;
    if (involvedObject?.namespace !== namespace || ageOf(event) > maxEventAgeMs) return undefined;
    return {
      ...event,
      metadata: { name, ...(labels && { labels }), ...(creationTimestamp && { creationTimestamp }) },
      involvedObject: { ...involvedObject, namespace: place.namespace },
      // Messages name objects by namespace/name.
      ...(message && {
        message: `${involvedObject.kind === 'Pod' ? '' : `[${cluster}] `}${message.replaceAll(`${namespace}/`, `${place.namespace}/`)}`,
      }),
    };
  };

function ageOf(event: KubeObject): number {
  const times = [event['lastTimestamp'], event['eventTime'], event.metadata.creationTimestamp];
  const last = times.find((time) => typeof time === 'string') as string | undefined;
  return last === undefined ? 0 : Date.now() - Date.parse(last);
}
