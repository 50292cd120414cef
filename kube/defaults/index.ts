import type { Json, JsonObject, KubeObject, ObjectMeta } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { isRecord } from '../untyped.ts';
import { admissionDefaults } from './admission.ts';
import { appsDefaults } from './apps.ts';
import { clusterDefaults } from './cluster.ts';
import { coreDefaults } from './core.ts';
import type { Defaulters } from './defaulter.ts';
import { normalise } from './normalise.ts';
import { podDefaults } from './pod.ts';
import { fieldsOf, rootType, type TypeShape } from './shape.ts';
import { volumeDefaults } from './volume.ts';

const defaulters: Defaulters = {
  ...podDefaults,
  ...volumeDefaults,
  ...coreDefaults,
  ...appsDefaults,
  ...clusterDefaults,
  ...admissionDefaults,
};

/**
 * `object` as kube-apiserver has it after decoding: every default of its kind filled in, and written as Kubernetes'
 * own types write it (see normalise). Kinds that are not built in come back untouched. Returns a new object when it
 * changes anything; the argument must not be used afterwards.
 * https://kubernetes.io/docs/reference/kubernetes-api/
 */
export function applyDefaults(object: KubeObject, info: KindInfo): KubeObject {
  const type = rootType(info.group, info.version, info.kind);
  if (!type) return object;
  const empties = { found: false };
  const typed = normalise(object as unknown as Json, type, empties);
  const changed = visit(typed, type);
  // It is as it should be unless somebody has touched it since.
  return (changed || empties.found ? normalise(typed, type) : typed) as unknown as KubeObject;
}

const metadataType: TypeShape = { kind: 'struct', name: 'meta.v1.ObjectMeta' };

/** metadata by itself, written as Kubernetes' own type writes it: a custom resource has no other part that is typed. */
export function normaliseMetadata(metadata: ObjectMeta): ObjectMeta {
  return normalise(metadata as unknown as Json, metadataType) as unknown as ObjectMeta;
}

/**
 * A type's own defaults come before those of its fields: a Pod's host ports before its containers' protocols. False:
 * nothing below has any.
 */
function visit(value: Json | undefined, type: TypeShape): boolean {
  if (value === undefined || value === null || !hasDefaults(type)) return false;
  let changed = false;
  switch (type.kind) {
    case 'pointer':
      return visit(value, type.element);
    case 'list':
      if (Array.isArray(value)) for (const item of value) changed = visit(item, type.element) || changed;
      return changed;
    case 'map':
      if (isRecord(value)) {
        for (const item of Object.values(value)) changed = visit(item, type.element) || changed;
      }
      return changed;
    case 'struct':
      return isRecord(value) && visitStruct(value, type.name);
    default:
      return false;
  }
}

function visitStruct(value: JsonObject, name: string): boolean {
  const own = defaulters[name];
  own?.(value);
  let changed = own !== undefined;
  for (const field of fieldsOf(name)) {
    if (field.type.kind !== 'scalar') changed = visit(value[field.name], field.type) || changed;
  }
  return changed;
}

const defaulted = new Map<string, boolean>();

/** Whether the type or one that it holds has defaults. */
function hasDefaults(type: TypeShape): boolean {
  if (type.kind === 'scalar') return false;
  if (type.kind !== 'struct') return hasDefaults(type.element);
  let known = defaulted.get(type.name);
  if (known === undefined) {
    known = [...reached(type.name, new Set())].some((name) => Object.hasOwn(defaulters, name));
    defaulted.set(type.name, known);
  }
  return known;
}

/** The names of all structs that a value of this one may hold, its own among them. */
function reached(name: string, found: Set<string>): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const field of fieldsOf(name)) {
    let { type } = field;
    while (type.kind !== 'scalar' && type.kind !== 'struct') type = type.element;
    if (type.kind === 'struct') reached(type.name, found);
  }
  return found;
}
