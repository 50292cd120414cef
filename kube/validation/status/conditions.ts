import { patternMessage, validateQualifiedName } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, int, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';

const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const isReason = new RegExp(`^${reasonPattern}$`);
const reasonRule =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const longestReason = 1024;
const longestMessage = 32 * 1024;

/** https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#condition-v1-meta */
export function conditions(value: unknown, field: Field): void {
  const types = new Set<string>();
  for (const [i, each] of records(value).entries()) {
    const type = text(each['type']);
    if (types.has(type)) field.index(i).child('type').duplicate(type);
    types.add(type);
    condition(each, field.index(i));
  }
}

/** As those of flow control, which ask for a type alone. */
const typed: SubresourceCheck = (object, _old, root) => {
  const types = new Set<string>();
  for (const [i, each] of records(at(object, 'status', 'conditions')).entries()) {
    const field = root.child('status', 'conditions').index(i).child('type');
    const type = text(each['type']);
    if (types.has(type)) field.duplicate(type);
    types.add(type);
    if (type === '') field.required();
  }
};

export const flowStatuses: Readonly<Record<string, SubresourceCheck>> = {
  'flowcontrol.apiserver.k8s.io/FlowSchema/status': typed,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration/status': typed,
};

function condition(each: JsonObject, field: Field): void {
  const type = text(each['type']);
  field.child('type').invalidAll(type, validateQualifiedName(type));
  const status = text(each['status']);
  if (!['True', 'False', 'Unknown'].includes(status)) {
    field.child('status').notSupported(status, ['False', 'True', 'Unknown']);
  }
  const generation = int(each['observedGeneration']);
  if (generation < 0)
    field.child('observedGeneration').invalid(generation, 'must be greater than or equal to zero');
  if (text(each['lastTransitionTime']) === '') field.child('lastTransitionTime').required();
  const reason = text(each['reason']);
  if (reason === '') field.child('reason').required();
  else {
    if (!isReason.test(reason))
      field.child('reason').invalid(reason, patternMessage(reasonRule, reasonPattern, ...reasons));
    if (Buffer.byteLength(reason) > longestReason) field.child('reason').tooLong(longestReason);
  }
  if (Buffer.byteLength(text(each['message'])) > longestMessage)
    field.child('message').tooLong(longestMessage);
}

const reasons = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];
