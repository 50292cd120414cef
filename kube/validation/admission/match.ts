import { validatePathSegmentName } from '../../names.ts';
import { isRecord, records, strings } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { labelSelector } from '../labels.ts';
import { pointedOneOf } from '../rules.ts';
import { admissionRule } from './rule.ts';

/** What a policy or its binding is about. */
export function matchResources(match: unknown, field: Field): void {
  if (!isRecord(match)) return;
  pointedOneOf(match['matchPolicy'], ['Equivalent', 'Exact'], field.child('matchPolicy'));
  for (const name of ['namespaceSelector', 'objectSelector']) {
    if (isRecord(match[name])) labelSelector(match[name], field.child(name));
    else field.child(name).required();
  }
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [index, rule] of records(match[list]).entries()) {
      const path = field.child(list).index(index);
      for (const [i, name] of strings(rule['resourceNames']).entries()) {
        path.child('resourceNames').index(i).invalidAll(name, validatePathSegmentName(name));
        if (strings(rule['resourceNames']).indexOf(name) < i)
          path.child('resourceNames').index(i).duplicate(name);
      }
      admissionRule(rule, path);
    }
  }
}
