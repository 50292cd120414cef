import { at, int, record, records, strings, text } from '../defaults/json.ts';
import { compareQuantities } from '../defaults/quantity.ts';
import { validateQualifiedName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { sameJson } from '../strategy/equal.ts';
import type { Field } from './field.ts';
import { cidr } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { taintEffect } from './pod/affinity.ts';
import { resourceName, resourceQuantity } from './pod/resources.ts';
import { immutable, intOrPercent, notAbove100Percent, oneOf, qualifiedName } from './rules.ts';

const disruptionBudget: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    const internal = {
      MinAvailable: spec['minAvailable'],
      Selector: spec['selector'] ?? null,
      MaxUnavailable: spec['maxUnavailable'],
      UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
    };
    field.invalid(internal, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const name of ['minAvailable', 'maxUnavailable']) {
    if (spec[name] === undefined) continue;
    intOrPercent(spec[name], field.child(name));
    notAbove100Percent(spec[name], field.child(name));
  }
  labelSelector(spec['selector'], field.child('selector'));
  const eviction = spec['unhealthyPodEvictionPolicy'];
  const evictions = ['AlwaysAllow', 'IfHealthyBudget'];
  if (eviction !== undefined && !evictions.includes(text(eviction))) {
    field.child('unhealthyPodEvictionPolicy').notSupported(eviction, evictions);
  }
};

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const notQuota = ['pods/', 'storage'];

const resourceQuota: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  for (const [name, quantity] of Object.entries(record(spec['hard']))) {
    const path = field.child('hard').key(name);
    const counted = name.startsWith('count/');
    if (!counted && !resourceNameForQuota(name, path)) continue;
    resourceQuantity(name, quantity, path);
  }
  const given = strings(spec['scopes']);
  for (const scope of given) {
    if (!scopes.includes(scope)) field.child('scopes').invalid(given, 'unsupported scope');
  }
  for (const pair of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ]) {
    if (pair.every((scope) => given.includes(scope)))
      field.child('scopes').invalid(given, 'conflicting scopes');
  }
};

function resourceNameForQuota(name: string, field: Field): boolean {
  const known = resourceName(name, field);
  if (known || name.includes('/') || validateQualifiedName(name).length > 0) {
    if (!known || !notQuota.includes(name)) return true;
  }
  field.invalid(name, 'must be a standard resource for quota');
  return true;
}

const limitTypes = ['Container', 'Pod', 'PersistentVolumeClaim'];

function limit(item: JsonObject, field: Field): void {
  const type = text(item['type']);
  const messages = validateQualifiedName(type);
  field.child('type').invalidAll(type, messages);
  if (messages.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
    field.child('type').invalid(type, 'must be a standard limit type or fully qualified');
  }
  if (type === 'Pod') {
    for (const name of ['default', 'defaultRequest']) {
      if (Object.keys(record(item[name])).length === 0) continue;
      field.child(name).forbidden("may not be specified when `type` is 'Pod'");
    }
  }
  const [max, min] = [record(item['max']), record(item['min'])];
  if (type === 'PersistentVolumeClaim' && max['storage'] === undefined && min['storage'] === undefined) {
    const rule = 'either minimum or maximum storage value is required, but neither was provided';
    field.child('limits').required(rule);
  }
  const lists = [max, min, record(item['default']), record(item['defaultRequest'])];
  for (const key of new Set(lists.flatMap(Object.keys))) compareLimits(item, key, field);
}

/** min <= defaultRequest <= default <= max, for what of them is given. */
function compareLimits(item: JsonObject, key: string, field: Field): void {
  const value = (name: string) => at(item[name], key);
  const above = (a: string, b: string) => (compareQuantities(value(a), value(b)) ?? 0) > 0;
  const tell = (path: string, shown: string, message: string) =>
    field.child(path).key(key).invalid(value(shown), message);
  const words: Record<string, string> = {
    min: 'min',
    max: 'max',
    default: 'default',
    defaultRequest: 'default request',
  };
  const order = (low: string, high: string, path: string, shown = path) => {
    if (!above(low, high)) return;
    const limitWord = low === 'defaultRequest' && high === 'default' ? 'default limit' : words[high];
    tell(path, shown, `${words[low]} value ${value(low)} is greater than ${limitWord} value ${value(high)}`);
  };
  order('min', 'max', 'min');
  order('min', 'defaultRequest', 'defaultRequest');
  order('defaultRequest', 'max', 'defaultRequest');
  order('defaultRequest', 'default', 'defaultRequest');
  order('min', 'default', 'default', 'min');
  order('default', 'max', 'default', 'max');
}

const limitRange: KindCheck = ({ spec }, root) => {
  const seen = new Set<string>();
  for (const [index, item] of records(spec['limits']).entries()) {
    const path = root.child('spec', 'limits').index(index);
    const type = text(item['type']);
    limit(item, path);
    if (seen.has(type)) path.child('type').duplicate(type);
    seen.add(type);
  }
};

const priorityClass: KindCheck = ({ object, old }, root) => {
  const value = int(object['value']);
  const name = text(at(object, 'metadata', 'name'));
  if (old) {
    if (int(old['value']) !== value) root.child('value').forbidden('may not be changed in an update.');
    if (!sameJson(object['preemptionPolicy'], old['preemptionPolicy'])) {
      root.child('preemptionPolicy').invalid(object['preemptionPolicy'], immutable);
    }
    return;
  }
  if (name.startsWith('system-')) {
    const known: Record<string, number> = {
      'system-cluster-critical': 2_000_000_000,
      'system-node-critical': 2_000_001_000,
    };
    if (known[name] !== value) {
      const rule = "priority class names with 'system-' prefix are reserved for system use only.";
      const why =
        known[name] === undefined
          ? `${name} is not a known system priority class`
          : `value of ${name} PriorityClass must be ${known[name]}`;
      root.child('metadata', 'name').forbidden(`${rule} error: ${why}`);
    }
  } else if (value > 1_000_000_000) {
    root.child('value').forbidden('maximum allowed value of a user defined priority is 1000000000');
  }
  const policies = ['PreemptLowerPriority', 'Never'];
  oneOf(object['preemptionPolicy'], policies, root.child('preemptionPolicy'));
};

const node: KindCheck = ({ spec }, root) => {
  const seen = new Set<string>();
  for (const [index, taint] of records(spec['taints']).entries()) {
    const path = root.child('metadata', 'taints').index(index);
    const key = text(taint['key']);
    qualifiedName(key, path.child('key'));
    const effect = text(taint['effect']);
    if (!effect) path.child('effect').required();
    else taintEffect(effect, path.child('effect'));
    if (seen.has(`${key}:${effect}`)) path.duplicate(taint);
    seen.add(`${key}:${effect}`);
  }
  for (const [index, range] of strings(spec['podCIDRs']).entries())
    cidr(range, root.child('spec', 'podCIDRs').index(index));
};

export const policyChecks: KindChecks = {
  'policy/PodDisruptionBudget': disruptionBudget,
  '/ResourceQuota': resourceQuota,
  '/LimitRange': limitRange,
  'scheduling.k8s.io/PriorityClass': priorityClass,
  '/Node': node,
};
