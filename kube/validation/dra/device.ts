import { sameJson } from '../../deep.ts';
import { given } from '../../defaults/empty.ts';
import { validateLabelValue, validateQualifiedName } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { nodeSelector } from '../pod/affinity.ts';
import { dns1123Label, oneOf, qualifiedName } from '../rules.ts';
import { type ShownShape, shownAs } from '../shown.ts';
import { requestPolicy } from './capacity.ts';
import { counterSetName, counters } from './counters.ts';
import { attributeName, items, keyed, nodeName } from './shared.ts';

const most = {
  named: 32,
  values: 48,
  taints: 16,
  counterSets: 2,
  conditions: 4,
  keyBytes: 63 + 1 + 32,
  valueBytes: 64,
};
const effects = ['NoExecute', 'NoSchedule', 'None'];
const version =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

function shortened(key: string): string {
  if (key.length <= most.keyBytes) return key;
  const kept = most.keyBytes - 3;
  return `${key.slice(0, Math.floor((kept + 1) / 2))}...${key.slice(key.length - Math.floor(kept / 2))}`;
}

const attributeShape: ShownShape = [
  ['int', 'IntValue', null],
  ['bool', 'BoolValue', null],
  ['string', 'StringValue', null],
  ['version', 'VersionValue', null],
  ['ints', 'IntValues', null],
  ['bools', 'BoolValues', null],
  ['strings', 'StringValues', null],
  ['versions', 'VersionValues', null],
];

function attribute(value: JsonObject, field: Field): void {
  const given = attributeShape.filter(([name]) => value[name] !== undefined && value[name] !== null);
  const { string, version: number } = value;
  if (typeof string === 'string' && Buffer.byteLength(string) > most.valueBytes)
    field.child('string').tooLong(most.valueBytes);
  if (typeof number === 'string') {
    const path = field.child('version');
    if (!version.test(number)) path.invalid(number, 'must be a string compatible with semver.org spec 2.0.0');
    if (Buffer.byteLength(number) > most.valueBytes) path.tooLong(most.valueBytes);
  }
  const rule = 'exactly one value must be specified';
  if (given.length === 0) field.invalid('', rule);
  if (given.length > 1) field.invalid(shownAs(value, attributeShape), rule);
}

function attributes(one: JsonObject, field: Field): void {
  const [named, capacities] = [
    Object.entries(record(one['attributes'])),
    Object.entries(record(one['capacity'])),
  ];
  const count = named.length + capacities.length;
  if (count > most.named)
    field.invalid(count, `the total number of attributes and capacities must not exceed ${most.named}`);
  for (const [name, value] of named) {
    attributeName(name, field.child('attributes'));
    attribute(record(value), field.child('attributes').key(shortened(name)));
  }
  for (const [name, value] of capacities) {
    attributeName(name, field.child('capacity'));
    const policy = record(value)['requestPolicy'];
    const path = field.child('capacity').key(shortened(name)).child('requestPolicy');
    if (!isRecord(policy)) continue;
    if (one['allowMultipleAllocations'] !== true) path.forbidden('allowMultipleAllocations must be true');
    else requestPolicy(record(value)['value'], policy, path);
  }
}

function taint(one: JsonObject, field: Field): void {
  qualifiedName(text(one['key']), field.child('key'));
  const value = text(one['value']);
  if (value) field.child('value').invalidAll(value, validateLabelValue(value));
  oneOf(one['effect'], effects, field.child('effect'));
}

const placesOfDevice = '`nodeName`, `nodeSelector`, or `allNodes`';

function placed(one: JsonObject, perDevice: boolean, field: Field): void {
  const { nodeName: name, nodeSelector: selector, allNodes: all } = one;
  if (!perDevice) {
    if (name === undefined && selector === undefined && all === undefined) return;
    const rule = 'can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    field.invalid(null, `\`nodeName\`, \`nodeSelector\` and \`allNodes\` ${rule}`);
    return;
  }
  const found: string[] = [];
  if (name === '') field.child('nodeName').invalid(name, 'must not be empty');
  else if (typeof name === 'string') {
    found.push('`nodeName`');
    nodeName(name, field.child('nodeName'));
  }
  if (isRecord(selector)) {
    found.push('`nodeSelector`');
    nodeSelector(selector, field.child('nodeSelector'));
  }
  if (all === true) found.push('`allNodes`');
  else if (all === false) field.child('allNodes').invalid(false, 'must be either unset or set to true');
  const rule = `exactly one of ${placesOfDevice} is required when \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`;
  if (found.length === 0) field.required(rule);
  if (found.length > 1) field.invalid(`{${found.join(', ')}}`, rule);
}

/** What must hold, or must not, before a device is bound. */
export function bindingConditions(one: JsonObject, field: Field): void {
  const [good, bad] = [strings(one['bindingConditions']), strings(one['bindingFailureConditions'])];
  const path = { good: field.child('bindingConditions'), bad: field.child('bindingFailureConditions') };
  const name = (condition: string, at: Field) => at.invalidAll(condition, validateQualifiedName(condition));
  items(good, most.conditions, path.good, name);
  items(bad, most.conditions, path.bad, name);
  for (const [index, condition] of good.entries())
    if (good.indexOf(condition) < index) path.good.index(index).duplicate(condition);
  for (const [index, condition] of bad.entries()) {
    if (bad.indexOf(condition) < index) path.bad.index(index).duplicate(condition);
    if (good.includes(condition))
      path.bad
        .index(index)
        .invalid(condition, 'bindingFailureConditions must not overlap with bindingConditions');
  }
  if (good.length === 0 && bad.length > 0)
    path.good.invalid(
      given(one, 'bindingConditions'),
      'bindingConditions are required to use bindingFailureConditions',
    );
  if (bad.length === 0 && good.length > 0)
    path.bad.invalid(
      given(one, 'bindingFailureConditions'),
      'bindingFailureConditions are required to use bindingConditions',
    );
}

/** One device of a slice; taints that were there before are let pass. */
export function device(
  one: JsonObject,
  { old, perDevice }: { old: JsonObject | undefined; perDevice: boolean },
  field: Field,
): void {
  dns1123Label(text(one['name']), field.child('name'));
  attributes(one, field);
  if (!old || !sameJson(old['taints'], one['taints']))
    items(records(one['taints']), most.taints, field.child('taints'), taint);
  keyed(records(one['consumesCounters']), most.counterSets, field.child('consumesCounters'), {
    key: ({ counterSet }) => text(counterSet),
    check: (consumption, at) => {
      counterSetName(consumption['counterSet'], at.child('counterSet'));
      counters(consumption['counters'], at.child('counters'));
    },
  });
  placed(one, perDevice, field);
  bindingConditions(one, field);
}
