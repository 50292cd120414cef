import { isRecord } from './untyped.ts';

/** Of a configuration file: which fields it may have, and of what type. */
export type Shape = 'string' | 'boolean' | 'number' | readonly [Shape] | { readonly [name: string]: Shape };

/** What a value has that its shape does not, as strict decoding says it; values themselves are not shown. */
export function mismatches(value: unknown, wanted: Shape, path = ''): string[] {
  if (value === undefined || value === null) return [];
  if (typeof wanted === 'string') return typeof value === wanted ? [] : [`${path} must be a ${wanted}`];
  if (isList(wanted)) {
    if (!Array.isArray(value)) return [`${path} must be a list`];
    return value.flatMap((item, index) => mismatches(item, wanted[0], `${path}[${index}]`));
  }
  if (!isRecord(value)) return [`${path} must be an object`];
  return Object.entries(value).flatMap(([name, item]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const known = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    if (known !== undefined) return mismatches(item, known, at);
    return [`unknown field ${isName.test(name) ? JSON.stringify(at) : `in ${path || 'the file'}`}`];
  });
}

/** Others may be what belongs elsewhere: a key, a token. */
const isName = /^[A-Za-z]{1,30}$/;

function isList(wanted: Shape): wanted is readonly [Shape] {
  return Array.isArray(wanted);
}
