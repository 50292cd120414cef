import type { JsonObject } from '../../object.ts';
import { isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { common, type PodScope } from './container.ts';

const rule = 'cannot be set for an Ephemeral Container';
/** What only a container that serves something has. */
const forbidden = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null;
}

/** https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/ */
export function ephemeralContainers(spec: JsonObject, scope: PodScope, field: Field): void {
  const list = records(spec['ephemeralContainers']);
  if (list.length === 0) return;
  const others = new Set(
    ['containers', 'initContainers'].flatMap((kind) => records(spec[kind]).map(({ name }) => text(name))),
  );
  const names = new Set(others);
  for (const [index, container] of list.entries()) {
    const path = field.index(index);
    const name = text(container['name']);
    common(container, scope, path);
    const image = text(container['image']);
    if (image !== image.trim())
      path.child('image').invalid(image, 'must not have leading or trailing whitespace');
    if (names.has(name)) path.child('name').duplicate(name);
    names.add(name);
    const target = text(container['targetContainerName']);
    if (target && !others.has(target)) path.child('targetContainerName').notFound(target);
    for (const one of forbidden) {
      const value = container[one];
      const empty = one === 'resources' && isRecord(value) && Object.keys(value).length === 0;
      if (isSet(value) && !empty) path.child(one).forbidden(rule);
    }
    for (const [i, mount] of records(container['volumeMounts']).entries()) {
      for (const one of ['subPath', 'subPathExpr'])
        if (text(mount[one])) path.child('volumeMounts').index(i).child(one).forbidden(rule);
    }
  }
}
