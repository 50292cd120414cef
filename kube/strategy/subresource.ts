import { sameJson } from '../deep.ts';
import type { Json, JsonObject, KubeObject } from '../object.ts';
import { timestamp } from '../timestamp.ts';
import { at, record, records, text } from '../untyped.ts';

/** Narrows `object` to what one subresource may change of `old`; in place. */
export type Narrow = (object: KubeObject, old: KubeObject) => void;

function body(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

function only(object: KubeObject, old: KubeObject, spec: JsonObject): void {
  const whole = structuredClone(old);
  whole.spec = spec;
  const { resourceVersion, managedFields } = object.metadata;
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, whole);
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  if (!sameJson(spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

const finalize: Narrow = (object, old) => {
  if (old.status !== undefined) object.status = old.status;
};

/** Only conditions come in; when they came and changed is filled in. */
const approval: Narrow = (object, old) => {
  stampConditions(object, old);
  const conditions = (at(object, 'status', 'conditions') ?? null) as Json;
  if (old.spec !== undefined) object.spec = old.spec;
  const { conditions: _before, ...status } = record(old.status);
  object.status = { ...status, ...(conditions !== null && { conditions }) };
};

/** The times of a CertificateSigningRequest's conditions, where the client left them out. */
export function stampConditions(object: KubeObject, old: KubeObject): void {
  const now = timestamp();
  const before = records(at(old, 'status', 'conditions'));
  for (const condition of records(at(body(object), 'status', 'conditions'))) {
    if (!text(condition['lastUpdateTime'])) condition['lastUpdateTime'] = now;
    if (text(condition['lastTransitionTime'])) continue;
    const same = before.find(
      (one) => one['type'] === condition['type'] && one['status'] === condition['status'],
    );
    condition['lastTransitionTime'] = same?.['lastTransitionTime'] ?? now;
  }
}

const ephemeralContainers: Narrow = (object, old) => {
  const added = at(object, 'spec', 'ephemeralContainers');
  const { ephemeralContainers: _before, ...spec } = record(old.spec);
  only(object, old, { ...spec, ...(added !== undefined && { ephemeralContainers: added as Json }) });
};

/** Only what is asked for may change, by the pod and by its containers. Other containers than there were are left to be refused. */
const resize: Narrow = (object, old) => {
  const [now, before] = [record(object.spec), record(old.spec)];
  const lists = ['containers', 'initContainers'] as const;
  const count = (spec: JsonObject, list: string) => records(spec[list]).length;
  if (lists.some((list) => count(now, list) !== count(before, list))) return;
  const { resources, ...rest } = before;
  const resized = lists.flatMap((list) => {
    const containers = before[list] === undefined ? undefined : resizedOf(now[list], before[list]);
    return containers === undefined ? [] : [[list, containers] as const];
  });
  const asked = now['resources'];
  only(object, old, {
    ...rest,
    ...(asked !== undefined && { resources: asked }),
    ...Object.fromEntries(resized),
  });
};

/** As they were, with what they ask for now; as they are where one has another name. */
function resizedOf(now: Json | undefined, before: Json): Json {
  const given = records(now);
  const old = records(before);
  if (old.some(({ name }, i) => given[i]?.['name'] !== name)) return given as Json;
  return old.map(({ resources: _resources, resizePolicy: _policy, ...container }, i) => {
    const { resources, resizePolicy } = record(given[i]);
    return {
      ...container,
      ...(resources !== undefined && { resources }),
      ...(resizePolicy !== undefined && { resizePolicy }),
    };
  });
}

export const narrowings: Readonly<Record<string, Narrow>> = {
  /** The registry's own change: the node, and that it was found. */
  binding: () => {},
  finalize,
  approval,
  ephemeralcontainers: ephemeralContainers,
  resize,
};
