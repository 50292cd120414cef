import { validateDns1035Label } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, record, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';

/** All that is wrong with a DNS-1035 label in one message; empty for a good one. */
export const label = (value: string) => validateDns1035Label(value).join(',');

export function resourceNames(names: JsonObject, field: Field): void {
  for (const name of ['plural', 'singular', 'kind', 'listKind'])
    if (!text(names[name])) field.child(name).required();
  namesGiven(names, field);
}

/** Of those that are there. */
function namesGiven(names: JsonObject, field: Field): void {
  for (const name of ['plural', 'singular']) {
    const value = text(names[name]);
    if (value && label(value)) field.child(name).invalid(value, label(value));
  }
  for (const name of ['kind', 'listKind']) {
    const value = text(names[name]);
    const error = value && label(value.toLowerCase());
    if (error) field.child(name).invalid(value, `may have mixed case, but should otherwise match: ${error}`);
  }
  for (const list of ['shortNames', 'categories']) {
    for (const [index, value] of strings(names[list]).entries()) {
      if (label(value)) field.child(list).index(index).invalid(value, label(value));
    }
  }
  if (text(names['kind']) && names['kind'] === names['listKind'])
    field.child('listKind').invalid(names['listKind'], 'kind and listKind may not be the same');
}

/** What status says was accepted, as yet perhaps nothing. */
export const definitionStatus: SubresourceCheck = (object, _old, root) =>
  namesGiven(record(at(object, 'status', 'acceptedNames')), root.child('status', 'acceptedNames'));
