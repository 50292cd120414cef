import { sameJson } from '../deep.ts';
import { compareQuantities } from '../defaults/quantity.ts';
import type { JsonObject } from '../object.ts';
import { at, record } from '../untyped.ts';
import { claimSpec } from './claim.ts';
import { jsonDiff } from './diff.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { immutable } from './rules.ts';

const betaClass = 'volume.beta.kubernetes.io/storage-class';

/** What a claim becomes when all that may change is as it was. */
function withOld(object: JsonObject, old: JsonObject): [now: JsonObject, before: JsonObject] {
  const now = { ...record(object['spec']) };
  const before = { ...record(old['spec']) };
  const put = (into: JsonObject, name: string, from: JsonObject) => {
    if (from[name] === undefined) delete into[name];
    else into[name] = from[name];
  };
  if (before['volumeName'] === undefined) put(before, 'volumeName', now);
  const className = now['storageClassName'];
  const annotated = at(old, 'metadata', 'annotations', betaClass);
  if (before['storageClassName'] === undefined && className !== undefined) {
    if (annotated === undefined || annotated === className) delete now['storageClassName'];
  }
  if (at(object, 'status', 'phase') !== 'Bound') return [now, before];
  const requests = at(now, 'resources', 'requests');
  const size = at(before, 'resources', 'requests', 'storage');
  if (requests !== undefined && size !== undefined) {
    const same = { ...record(requests), storage: size as string };
    now['resources'] = { ...record(now['resources']), requests: same };
  }
  put(now, 'volumeAttributesClassName', before);
  return [now, before];
}

function attributesKept(spec: JsonObject, old: JsonObject, field: Field): void {
  const [now, before] = [spec['volumeAttributesClassName'], at(old, 'spec', 'volumeAttributesClassName')];
  if (sameJson(now, before) || at(old, 'status', 'currentVolumeAttributesClassName') === undefined) return;
  const why = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
  if (now === undefined) field.forbidden(`update to nil ${why}`);
  else if (now === '') field.forbidden(`update to empty string ${why}`);
}

/** Claims keep their spec; a bound one may grow, and change its attributes class. */
const claim: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  claimSpec(spec, field, oldSpec);
  if (!old || !oldSpec) return;
  const annotation = (of: JsonObject) => at(of, 'metadata', 'annotations', betaClass);
  const [now, before] = withOld(object, old);
  if (annotation(object) !== annotation(old) && spec['storageClassName'] !== annotation(old)) {
    root
      .child('metadata', 'annotations')
      .key(betaClass)
      .invalid(annotation(object) ?? '', immutable);
  }
  if (!sameJson(now, before)) {
    const shown = (value: JsonObject) => internal(value, 'core.PersistentVolumeClaimSpec');
    const except = 'except resources.requests and volumeAttributesClassName for bound claims';
    field.forbidden(`spec is immutable after creation ${except}\n${jsonDiff(shown(before), shown(now))}`);
  }
  const size = at(spec, 'resources', 'requests', 'storage') ?? '0';
  const shrunk = (compareQuantities(size, at(oldSpec, 'resources', 'requests', 'storage') ?? '0') ?? 0) < 0;
  const capacity = at(old, 'status', 'capacity', 'storage') ?? '0';
  if (shrunk && (compareQuantities(size, capacity) ?? 1) <= 0) {
    field.child('resources', 'requests', 'storage').forbidden('field can not be less than status.capacity');
  }
  if (!sameJson(spec['volumeMode'], oldSpec['volumeMode']))
    root.child('volumeMode').invalid(spec['volumeMode'] ?? null, immutable);
  attributesKept(spec, old, field.child('volumeAttributesClassName'));
};

export const storageChecks: KindChecks = { '/PersistentVolumeClaim': claim };
