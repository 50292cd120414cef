import type { Json, JsonObject, KubeObject, ObjectMeta } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { admissionDefaults } from './admission.ts';
import { appsDefaults } from './apps.ts';
import { clusterDefaults } from './cluster.ts';
import { coreDefaults } from './core.ts';
import type { Defaulters } from './defaulter.ts';
import { isRecord } from './json.ts';
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
  const typed = normalise(object as unknown as Json, type, true);
  visit(typed, type);
  return normalise(typed, type) as unknown as KubeObject;
}

const metadataType: TypeShape = { kind: 'struct', name: 'meta.v1.ObjectMeta' };

/** metadata by itself, written as Kubernetes' own type writes it: a custom resource has no other part that is typed. */
export function normaliseMetadata(metadata: ObjectMeta): ObjectMeta {
  return normalise(metadata as unknown as Json, metadataType) as unknown as ObjectMeta;
}

/** A type's own defaults come before those of its fields: a Pod's host ports before its containers' protocols. */
function visit(value: Json | undefined, type: TypeShape): void {
  if (value === undefined || value === null) return;
  switch (type.kind) {
    case 'pointer':
      visit(value, type.of);
      break;
    case 'list':
      if (Array.isArray(value)) for (const item of value) visit(item, type.of);
      break;
    case 'map':
      if (isRecord(value)) for (const item of Object.values(value)) visit(item, type.of);
      break;
    case 'struct':
      if (isRecord(value)) visitStruct(value, type.name);
      break;
  }
}

function visitStruct(value: JsonObject, name: string): void {
  defaulters[name]?.(value);
  for (const field of fieldsOf(name)) {
    if (field.type.kind !== 'scalar') visit(value[field.name], field.type);
  }
}
