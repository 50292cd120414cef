import type { KubeObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import type { KindInfo } from '../strategy/kind.ts';

/** The causes for which kube-apiserver would refuse to create a defaulted `object`, in its order; empty when valid. */
export function validateCreate(_object: KubeObject, _info: KindInfo): StatusCause[] {
  return [];
}

/** As validateCreate, for replacing `old`, on the main endpoint or on `subresource` (`status`). */
export function validateUpdate(
  _object: KubeObject,
  _old: KubeObject,
  _info: KindInfo,
  _subresource?: string,
): StatusCause[] {
  return [];
}
