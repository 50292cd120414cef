import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { strategyFor } from '../../../../kube/strategy/index.ts';
import { validateCreate, validateUpdate } from '../../../../kube/validation/index.ts';
import { infoOf } from '../kinds.ts';

function prepared(object: KubeObject): KubeObject {
  const whole = applyDefaults(structuredClone(object), infoOf(object));
  whole.metadata.uid = 'u-1';
  strategyFor(infoOf(object)).prepareForCreate(whole);
  return whole;
}

/** `field: message` of each cause for which `object` is refused as new, or as what replaces `old`. */
export function causesOf(object: KubeObject, old?: KubeObject): string[] {
  const info = infoOf(object);
  const causes = old
    ? validateUpdate(prepared(object), prepared(old), info)
    : validateCreate(prepared(object), info);
  return causes.map(({ field, message }) => `${field}: ${message}`);
}
