import type { KubeObject } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';

/** Fills in what kube-apiserver fills in when it decodes `object`. May mutate its argument; returns it. */
export function applyDefaults(object: KubeObject, _info: KindInfo): KubeObject {
  return object;
}
