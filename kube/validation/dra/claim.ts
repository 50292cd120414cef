import { costOf } from '../../cel/typed/cost.ts';
import { deviceDeclarations, deviceSize } from '../../cel/typed/device.ts';
import { declaredType } from '../../cel/typed/types.ts';
import { validateLabelValue } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { int, isRecord, record, records, strings, text } from '../../untyped.ts';
import { judgeOf } from '../expressions.ts';
import type { Field } from '../field.ts';
import { driverName } from '../pod/volume.ts';
import { dns1123Subdomain, oneOf, qualifiedName } from '../rules.ts';
import { domainAttributeName, items, keyed, opaque, requestName } from './shared.ts';

const most = { requests: 32, constraints: 32, config: 32, selectors: 32, alternatives: 8 };
const mostExpressionBytes = 10 * 1024;
/** In CEL's units, as cel-go estimates. */
const mostExpressionCost = 1_000_000;
const mostParameterBytes = 10 * 1024;
const effects = ['NoExecute', 'NoSchedule', 'None'];

/** https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/ */
export function claimSpec(spec: JsonObject, root: Field): void {
  const devices = record(spec['devices']);
  const field = root.child('devices');
  const names = requestNames(devices);
  keyed(records(devices['requests']), most.requests, field.child('requests'), {
    key: ({ name }) => text(name),
    check: request,
  });
  items(records(devices['constraints']), most.constraints, field.child('constraints'), (one, at) => {
    references(one['requests'], names, at.child('requests'));
    if (typeof one['matchAttribute'] === 'string')
      domainAttributeName(one['matchAttribute'], at.child('matchAttribute'));
    else if (typeof one['distinctAttribute'] === 'string')
      domainAttributeName(one['distinctAttribute'], at.child('distinctAttribute'));
    else
      at.required(
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      );
  });
  items(records(devices['config']), most.config, field.child('config'), (one, at) => {
    references(one['requests'], names, at.child('requests'));
    configuration(one, at);
  });
}

/** `request` and, of a request with alternatives, `request/alternative`. */
export function requestNames(devices: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  for (const one of records(devices['requests'])) {
    names.add(text(one['name']));
    for (const sub of records(one['firstAvailable'])) names.add(`${text(one['name'])}/${text(sub['name'])}`);
  }
  return names;
}

export function references(value: unknown, names: ReadonlySet<string>, field: Field): void {
  keyed(strings(value), most.requests, field, {
    key: (name) => name,
    check: (name, at) => reference(name, names, at),
  });
}

export function reference(name: string, names: ReadonlySet<string>, field: Field): void {
  const parts = name.split('/');
  if (parts.length <= 2) for (const part of parts) requestName(part, field);
  const rule =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  if (!names.has(name)) field.invalid(name, rule);
}

function request(one: JsonObject, field: Field): void {
  requestName(text(one['name']), field.child('name'));
  const alternatives = records(one['firstAvailable']);
  const rule = 'exactly one of `exactly` or `firstAvailable` is required';
  const exactly = one['exactly'];
  if (alternatives.length > 0 && isRecord(exactly))
    field.invalid(null, `${rule}, but multiple fields are set`);
  else if (isRecord(exactly)) exact(exactly, field.child('exactly'));
  else if (alternatives.length === 0) field.required(rule);
  else
    keyed(alternatives, most.alternatives, field.child('firstAvailable'), {
      key: ({ name }) => text(name),
      check: (sub, at) => {
        requestName(text(sub['name']), at.child('name'));
        exact(sub, at);
      },
    });
}

function exact(one: JsonObject, field: Field): void {
  const deviceClass = text(one['deviceClassName']);
  if (!deviceClass) field.child('deviceClassName').required();
  else dns1123Subdomain(deviceClass, field.child('deviceClassName'));
  selectors(one['selectors'], field.child('selectors'));
  const mode = text(one['allocationMode']);
  const count = int(one['count']);
  const path = field.child('count');
  if (mode === 'All') {
    if (count !== 0) path.invalid(count, "must not be specified when allocationMode is 'All'");
  } else if (mode === 'ExactCount') {
    if (count <= 0) path.invalid(count, 'must be greater than zero');
  } else field.child('allocationMode').notSupported(mode, ['All', 'ExactCount']);
  for (const [index, toleration] of records(one['tolerations']).entries())
    tolerate(toleration, field.child('tolerations').index(index));
}

export function selectors(value: unknown, field: Field): void {
  items(records(value), most.selectors, field, (selector, at) => {
    const cel = selector['cel'];
    if (!isRecord(cel)) at.child('cel').required();
    else expression(text(cel['expression']), at.child('cel', 'expression'));
  });
}

function expression(value: string, field: Field): void {
  if (Buffer.byteLength(value) > mostExpressionBytes) {
    field.tooLong(mostExpressionBytes);
    return;
  }
  const { problem, checked } = judgeOf(field, value, deviceDeclarations);
  if (problem !== undefined) field.invalid(value, `compilation failed: ${problem}`);
  if (!checked) return;
  const type = declaredType(checked.type);
  if (type !== 'bool' && type !== 'any')
    field.invalid(value, `must evaluate to bool or the unknown type, not ${type}`);
  else if (costOf(checked, deviceSize).max > mostExpressionCost)
    field.forbidden('too complex, exceeds cost limit');
}

function tolerate(toleration: JsonObject, field: Field): void {
  const { key, operator, effect } = toleration;
  const value = text(toleration['value']);
  if (text(key)) qualifiedName(text(key), field.child('key'));
  oneOf(operator, ['Equal', 'Exists'], field.child('operator'));
  if (operator === 'Exists' && value)
    field.child('value').invalid(value, 'must be empty for operator `Exists`');
  if (operator === 'Equal') field.child('value').invalidAll(value, validateLabelValue(value));
  if (text(effect) && !effects.includes(text(effect))) field.child('effect').notSupported(effect, effects);
}

export function configuration(one: JsonObject, field: Field): void {
  const value = one['opaque'];
  const path = field.child('opaque');
  if (!isRecord(value)) {
    path.required();
    return;
  }
  driverName(text(value['driver']), path.child('driver'));
  opaque(value['parameters'], mostParameterBytes, path.child('parameters'));
}
