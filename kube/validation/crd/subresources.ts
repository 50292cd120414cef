import { isRecord, text } from '../../untyped.ts';
import type { Field } from '../field.ts';

export function simplePath(path: string, field: Field): boolean {
  if (path.startsWith('.')) return true;
  field.invalid(path, 'must be a simple json path starting with .');
  return false;
}

function below(path: string, roots: readonly string[], where: string, field: Field): void {
  if (!simplePath(path, field)) return;
  if (!roots.some((root) => path.startsWith(`${root}.`)))
    field.invalid(path, `should be a json path under ${where}`);
}

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource */
export function subresources(value: unknown, field: Field): void {
  const scale = isRecord(value) ? value['scale'] : undefined;
  if (!isRecord(scale)) return;
  for (const [name, root] of [
    ['specReplicasPath', '.spec'],
    ['statusReplicasPath', '.status'],
  ] as const) {
    const path = text(scale[name]);
    if (path) below(path, [root], root, field.child('scale', name));
    else field.child('scale', name).required();
  }
  const selector = text(scale['labelSelectorPath']);
  if (selector)
    below(
      selector,
      ['.spec', '.status'],
      'either .spec or .status',
      field.child('scale', 'labelSelectorPath'),
    );
}
