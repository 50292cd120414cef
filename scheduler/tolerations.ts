import type { Toleration } from '../cluster/policy.ts';
import type { Taint } from '../cluster/types.ts';

/** As a Pod's. https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key !== '' && key !== taint.key) return false;
    return operator === 'Exists' || value === (taint.value ?? '');
  });
}
