import type { GroupVersionKind } from '../gvk.ts';
import { badRequest } from '../status.ts';

/** The 400 of kube-apiserver for a body that its decoder refuses; strict errors are joined by the caller. */
export function cannotHandle({ kind, version }: GroupVersionKind, why: string) {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** The 400 for fieldValidation=Strict. `problems` are unknown and duplicate fields in the order found. */
export function strictError(gvk: GroupVersionKind, problems: readonly string[]) {
  return cannotHandle(gvk, strictProblems(problems));
}

export function strictProblems(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(', ')}`;
}
