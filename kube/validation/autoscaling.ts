import { parseQuantity } from '../defaults/quantity.ts';
import { validatePathSegmentName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, records, text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { containerResourceName } from './pod/resources.ts';
import { dns1123Label, isSet, notNegative } from './rules.ts';

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const fieldOf: Record<string, string> = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

/** `grouped`: an object of the core group is not meant. */
function objectReference(ref: unknown, grouped: boolean, field: Field): void {
  apiVersion(text(at(ref, 'apiVersion')), grouped, field.child('apiVersion'));
  for (const name of ['kind', 'name']) {
    const value = text(at(ref, name));
    if (!value) field.child(name).required();
    else field.child(name).invalidAll(value, validatePathSegmentName(value));
  }
}

function apiVersion(version: string, grouped: boolean, field: Field): void {
  const parts = version.split('/');
  if (parts.length > 2) field.invalid(version, `unexpected GroupVersion string: ${version}`);
  else if (grouped && (parts.length < 2 || parts[0] === ''))
    field.invalid(version, 'apiVersion must specify API group');
}

function target(value: JsonObject, field: Field): void {
  const type = text(value['type']);
  if (!type) field.child('type').required('must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    field.child('type').invalid(type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const name of ['value', 'averageValue']) {
    const quantity = parseQuantity(value[name]);
    if (quantity && quantity.value <= 0n) field.child(name).invalid(value[name], 'must be positive');
  }
  const utilization = value['averageUtilization'];
  if (typeof utilization === 'number' && utilization < 1) {
    field.child('averageUtilization').invalid(utilization, 'must be greater than 0');
  }
}

/** Exactly one of the two that a metric of this type compares with. */
function choice(value: JsonObject, first: string, field: Field): void {
  const path = field.child('target');
  const given = value[first] !== undefined;
  const average = value['averageValue'] !== undefined;
  if (first === 'averageUtilization') {
    if (!given && !average) {
      path.child(first).required('must set either a target raw value or a target utilization');
    }
    if (given && average) {
      path.child('averageValue').forbidden('may not set both a target raw value and a target utilization');
    }
    return;
  }
  if (!given && !average)
    path.child('averageValue').required('must set either a target value for metric or a per-pod target');
  if (given && average)
    path.child('value').forbidden('may not set both a target value for metric and a per-pod target');
}

function metricName(source: JsonObject, field: Field): void {
  const name = text(at(source, 'metric', 'name'));
  const path = field.child('metric', 'name');
  if (!name) path.required('must specify a metric name');
  else path.invalidAll(name, validatePathSegmentName(name));
}

function metricSource(type: string, source: JsonObject, field: Field): void {
  const goal = record(source['target']);
  if (type === 'resource' || type === 'containerResource') {
    const name = text(source['name']);
    if (!name) field.child('name').required('must specify a resource name');
    if (type === 'containerResource') {
      if (name) containerResourceName(name, field.child('name'));
      const container = text(source['container']);
      if (!container) field.child('container').required('must specify a container');
      else dns1123Label(container, field.child('container'));
    }
    target(goal, field.child('target'));
    choice(goal, 'averageUtilization', field);
    return;
  }
  if (type === 'object') objectReference(source['describedObject'], false, field.child('describedObject'));
  metricName(source, field);
  target(goal, field.child('target'));
  const average = field.child('target', 'averageValue');
  if (type === 'object') {
    if (goal['value'] === undefined && goal['averageValue'] === undefined)
      average.required('must set either a target value or averageValue');
  } else if (type !== 'pods') choice(goal, 'value', field);
  else if (goal['averageValue'] === undefined)
    average.required('must specify a positive target averageValue');
}

function metric(spec: JsonObject, field: Field): void {
  const type = text(spec['type']);
  if (!type) field.child('type').required('must specify a metric source type');
  if (!metricTypes.includes(type)) field.child('type').notSupported(type, metricTypes);
  const present = Object.values(fieldOf).filter((name) => isSet(spec, name));
  const [first] = present;
  if (first !== undefined) metricSource(first, record(spec[first]), field.child(first));
  const expected = Object.hasOwn(fieldOf, type) ? fieldOf[type] : undefined;
  if (expected === undefined) field.child('type').notSupported(type, metricTypes);
  else if (!present.includes(expected)) {
    field.child(expected).required('must populate information for the given metric source');
  }
  if (present.length === 1) return;
  for (const other of present.filter((name) => name !== expected)) {
    field.child(other).forbidden('must populate the given metric source only');
  }
}

const selectPolicies = ['Disabled', 'Max', 'Min'];

function scalingRules(rules: unknown, field: Field): void {
  if (!isRecord(rules)) return;
  const window = rules['stabilizationWindowSeconds'];
  const path = field.child('stabilizationWindowSeconds');
  if (int(window) < 0) path.invalid(window, 'must be greater than or equal to zero');
  if (int(window) > 3600) path.invalid(window, 'must be less than or equal to 3600');
  const select = rules['selectPolicy'];
  if (select !== undefined && !selectPolicies.includes(text(select))) {
    field.child('selectPolicy').notSupported(select, selectPolicies);
  }
  const policies = records(rules['policies']);
  if (policies.length === 0) field.child('policies').required('must specify at least one Policy');
  for (const [index, policy] of policies.entries()) {
    const at = field.child('policies').index(index);
    const type = text(policy['type']);
    if (type !== 'Pods' && type !== 'Percent') at.child('type').notSupported(type, ['Percent', 'Pods']);
    for (const name of ['value', 'periodSeconds']) {
      if (int(policy[name]) <= 0) at.child(name).invalid(int(policy[name]), 'must be greater than zero');
    }
    if (int(policy['periodSeconds']) > 1800) {
      at.child('periodSeconds').invalid(policy['periodSeconds'], 'must be less than or equal to 1800');
    }
  }
  if ((parseQuantity(rules['tolerance'])?.value ?? 0n) < 0n)
    field.child('tolerance').invalid(rules['tolerance'], notNegative);
}

/** Of the core group only ReplicationControllers scale; what names no group already may stay. */
function scaleTarget(spec: JsonObject, oldSpec: JsonObject | undefined, field: Field): void {
  const ref = record(spec['scaleTargetRef']);
  const old = record(oldSpec?.['scaleTargetRef']);
  const path = field.child('scaleTargetRef');
  const same = oldSpec && old['apiVersion'] === ref['apiVersion'] && old['kind'] === ref['kind'];
  objectReference(
    same ? { ...ref, apiVersion: '' } : ref,
    !same && ref['kind'] !== 'ReplicationController',
    path,
  );
}

const scaler: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  const least = spec['minReplicas'];
  const most = int(spec['maxReplicas']);
  const lowest = oldSpec?.['minReplicas'] === 0 ? 0 : 1;
  if (typeof least === 'number' && least < lowest) {
    field.child('minReplicas').invalid(least, `must be greater than or equal to ${lowest}`);
  }
  if (most === 0) field.child('maxReplicas').required('must be set and greater than 0');
  else if (most < 0) field.child('maxReplicas').invalid(most, 'must be greater than or equal to 1');
  if (typeof least === 'number' && most < least) {
    field.child('maxReplicas').invalid(most, 'must be greater than or equal to `minReplicas`');
  }
  scaleTarget(spec, oldSpec, field);
  const metrics = records(spec['metrics']);
  for (const [index, one] of metrics.entries()) metric(one, field.child('metrics').index(index));
  if (least === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const rule = 'must specify at least one Object or External metric to support scaling to zero replicas';
    field.child('metrics').forbidden(rule);
  }
  const cpu = spec['targetCPUUtilizationPercentage'];
  if (typeof cpu === 'number' && cpu < 1) {
    const path = field.child('metrics').index(0).child('resource', 'target', 'averageUtilization');
    path.invalid(cpu, 'must be greater than 0');
  }
  for (const name of ['scaleUp', 'scaleDown'])
    scalingRules(at(spec, 'behavior', name), field.child('behavior', name));
};

export const autoscalingChecks: KindChecks = { 'autoscaling/HorizontalPodAutoscaler': scaler };
