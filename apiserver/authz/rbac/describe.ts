import { quoteGo } from '../../../kube/quote.ts';
import type { Binding } from './grants.ts';

/** A binding, and which of its subjects whoever has these keys is: as kube-apiserver names them. */
export function reasonOf({ namespace, name, roleRef, subjects }: Binding, keys: readonly string[]): string {
  const subject = subjects.find(({ key }) => key !== undefined && keys.includes(key));
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const binding = namespace === '' ? name : `${name}/${namespace}`;
  const role = `${roleRef.kind} ${quoteGo(roleRef.name)}`;
  if (subject === undefined) return `${kind} ${quoteGo(binding)} of ${role}`;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace}` : subject.name;
  return `${kind} ${quoteGo(binding)} of ${role} to ${subject.kind} ${quoteGo(who)}`;
}
