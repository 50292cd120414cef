import { deepEqual } from '../../kube/deep.ts';
import type { JsonObject } from '../../kube/object.ts';

/** Without those that another one includes, in order; of equal ones the first stays. As RuntimeClasses add theirs to a Pod's. */
export function mergedTolerations(all: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = [];
  for (const [i, one] of all.entries()) {
    const isIncluded =
      merged.some((other) => includes(other, one)) ||
      all.slice(i + 1).some((other) => !deepEqual(one, other) && includes(other, one));
    if (!isIncluded) merged.push(one);
  }
  return merged;
}

/** Whether `most` tolerates all that `one` does. A toleration without operator is equal to its like alone, as upstream has it. */
function includes(most: JsonObject, one: JsonObject): boolean {
  if (deepEqual(most, one)) return true;
  const of = (toleration: JsonObject, field: string) => toleration[field] ?? '';
  const isOfAll = of(most, 'key') === '' && of(most, 'operator') === 'Exists';
  if (of(one, 'key') !== of(most, 'key') && !isOfAll) return false;
  if (of(one, 'effect') !== of(most, 'effect') && of(most, 'effect') !== '') return false;
  if (of(most, 'effect') === 'NoExecute' && typeof most['tolerationSeconds'] === 'number') {
    const seconds = one['tolerationSeconds'];
    if (typeof seconds !== 'number' || seconds > most['tolerationSeconds']) return false;
  }
  const operator = of(most, 'operator');
  if (operator === 'Exists') return true;
  if (operator !== 'Equal' && operator !== '') return false;
  return of(one, 'operator') === 'Equal' && of(one, 'value') === of(most, 'value');
}
