import type { KubeObject } from '../object.ts';
import { at, record, records, strings, text } from '../untyped.ts';

/** One requirement of a quota's scopes or scopeSelector. */
export interface Scope {
  name: string;
  operator: string;
  values: readonly string[];
}

/** All of them have to match. `scopes` are those that have to exist. */
export function scopesOf(quota: KubeObject): Scope[] {
  const spec = record(quota.spec);
  return [
    ...strings(spec['scopes']).map((name) => ({ name, operator: 'Exists', values: [] })),
    ...records(at(spec, 'scopeSelector', 'matchExpressions')).map((one) => ({
      name: text(one['scopeName']),
      operator: text(one['operator']),
      values: strings(one['values']),
    })),
  ];
}

/** Of a scope that is a name: a priority class, or the attribute classes of a volume, of which one has to match. */
export function namesMatch({ operator, values }: Scope, names: readonly string[]): boolean {
  switch (operator) {
    case 'Exists':
      return names.length > 0;
    case 'DoesNotExist':
      return names.length === 0;
    case 'In':
      return names.some((name) => values.includes(name));
    case 'NotIn':
      return names.length === 0 || names.some((name) => !values.includes(name));
    default:
      return false;
  }
}
