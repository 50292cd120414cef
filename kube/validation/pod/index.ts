import { at, int, record, records, text } from '../../defaults/json.ts';
import type { Json, JsonObject } from '../../object.ts';
import { sameJson } from '../../strategy/equal.ts';
import type { Field } from '../field.ts';
import type { KindCheck, KindChecks } from '../kind.ts';
import { inclusiveRange } from '../rules.ts';
import { podSpec } from './spec.ts';

const maxInt32 = 2_147_483_647;

const pod: KindCheck = ({ object, spec, oldSpec }, root) => {
  const field = root.child('spec');
  podSpec(spec, field, { isPod: true, name: text(at(object, 'metadata', 'name')) });
  if (oldSpec) return podUpdate(spec, oldSpec, field);
  if (records(spec['ephemeralContainers']).length > 0)
    field.child('ephemeralContainers').forbidden('cannot be set on create');
  if (text(spec['nodeName']) && records(spec['schedulingGates']).length > 0) {
    field.child('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
  }
};

/** Whether containers came or went, after which nothing else is worth saying. */
function containersMoved(spec: JsonObject, oldSpec: JsonObject, field: Field): boolean {
  for (const name of ['containers', 'initContainers']) {
    const now = records(spec[name]);
    if (now.length !== records(oldSpec[name]).length) {
      field.child(name).forbidden('pod updates may not add or remove containers');
      return true;
    }
    for (const [index, container] of now.entries()) {
      const image = text(container['image']);
      if (image !== image.trim()) {
        field
          .child(name)
          .index(index)
          .child('image')
          .invalid(image, 'must not have leading or trailing whitespace');
      }
    }
  }
  return false;
}

function deadline(spec: JsonObject, oldSpec: JsonObject, field: Field): boolean {
  const now = spec['activeDeadlineSeconds'];
  const before = oldSpec['activeDeadlineSeconds'];
  if (typeof now === 'number') {
    if (now < 0 || now > maxInt32) field.invalid(now, inclusiveRange(0, maxInt32));
    else if (typeof before === 'number' && before < now)
      field.invalid(now, 'must be less than or equal to previous value');
    else return false;
    return true;
  }
  if (before !== undefined) field.invalid(null, 'must not update from a positive integer to nil value');
  return false;
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function podUpdate(spec: JsonObject, oldSpec: JsonObject, field: Field): void {
  if (containersMoved(spec, oldSpec, field)) return;
  if (deadline(spec, oldSpec, field.child('activeDeadlineSeconds'))) return;
  const tolerations = records(spec['tolerations']);
  const before = records(oldSpec['tolerations']);
  const bare = ({ tolerationSeconds: _seconds, ...rest }: JsonObject) => rest;
  const kept = before.every((old) => tolerations.some((now) => sameJson(bare(now), bare(old))));
  if (!kept)
    field
      .child('tolerations')
      .forbidden('existing toleration can not be modified except its tolerationSeconds');
  const oldGates = records(oldSpec['schedulingGates']).map((gate) => gate['name']);
  const added = records(spec['schedulingGates'])
    .map((gate) => gate['name'])
    .filter((name) => !oldGates.includes(name ?? null));
  if (added.length > 0) {
    const names = added.map(text).sort().join(', ');
    field
      .child('schedulingGates')
      .forbidden(`only deletion is allowed, but found new scheduling gate '${names}'`);
  }
  if (!sameJson(comparable(spec, oldSpec), comparable(oldSpec, oldSpec))) {
    field.forbidden(`pod updates may not change fields other than ${updatable.join(',')}`);
  }
}

/** The spec without what a running Pod may change. */
function comparable(spec: JsonObject, oldSpec: JsonObject): Json {
  const withoutImages = (name: string) =>
    records(spec[name]).map((container) => ({ ...container, image: '' }));
  const grace =
    int(oldSpec['terminationGracePeriodSeconds']) < 0 && spec['terminationGracePeriodSeconds'] === 1;
  const gated = records(oldSpec['schedulingGates']).length > 0;
  const { nodeAffinity: _node, ...affinity } = record(at(spec, 'affinity'));
  return {
    ...spec,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
    activeDeadlineSeconds: null,
    schedulingGates: null,
    tolerations: null,
    ...(grace && { terminationGracePeriodSeconds: oldSpec['terminationGracePeriodSeconds'] ?? null }),
    ...(gated && { nodeSelector: null, affinity }),
  };
}

export const podChecks: KindChecks = { '/Pod': pod };
