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

/** Only what containers ask for may change, not which there are. */
const resize: Narrow = (object, old) => {
  const before = record(old.spec);
  const resized = (list: string) => {
    const now = new Map(
      records(at(object, 'spec', list)).map((container) => [text(container['name']), container]),
    );
    return records(before[list]).map((container) => {
      const { resources, resizePolicy } = record(now.get(text(container['name'])));
      return {
        ...container,
        ...(resources !== undefined && { resources }),
        ...(resizePolicy !== undefined && { resizePolicy }),
      };
    });
  };
  const lists = ['containers', 'initContainers'].filter((list) => before[list] !== undefined);
  only(object, old, { ...before, ...Object.fromEntries(lists.map((list) => [list, resized(list)])) });
};

export const narrowings: Readonly<Record<string, Narrow>> = {
  /** The registry's own change: the node, and that it was found. */
  binding: () => {},
  finalize,
  approval,
  ephemeralcontainers: ephemeralContainers,
  resize,
};
