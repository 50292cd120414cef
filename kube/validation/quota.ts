import { given } from '../defaults/empty.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks, SubresourceCheck } from './kind.ts';
import { isQuotaResource, resourceName, resourceQuantity } from './pod/resources.ts';
import { immutable } from './rules.ts';

const podObjects = ['pods'];
const compute = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];
const claims = ['persistentvolumeclaims', 'requests.storage'];
const pods = [...podObjects, ...compute];

/** What each scope counts. */
const counted: Readonly<Record<string, readonly string[]>> = {
  Terminating: pods,
  NotTerminating: pods,
  NotBestEffort: pods,
  PriorityClass: pods,
  CrossNamespacePodAffinity: pods,
  BestEffort: podObjects,
  VolumeAttributesClass: claims,
};
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const onlyExists = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];

function isScope(name: string): boolean {
  return Object.hasOwn(counted, name);
}

/** How many of the quota's resources the scope has no say in. */
function uncounted(spec: JsonObject, scope: string): number {
  const applicable = isScope(scope) ? counted[scope] : undefined;
  if (!applicable) return 0;
  const names = Object.keys(record(spec['hard'])).filter(isQuotaResource);
  return names.filter((name) => !applicable.includes(name)).length;
}

function conflicting(given: ReadonlySet<string>, shown: unknown, field: Field): void {
  for (const pair of conflicts) {
    if (pair.every((scope) => given.has(scope))) field.invalid(shown ?? null, 'conflicting scopes');
  }
}

function scopes(spec: JsonObject, field: Field): void {
  const list = strings(spec['scopes']);
  for (const scope of list) {
    if (!isScope(scope)) field.invalid(list, 'unsupported scope');
    for (let i = uncounted(spec, scope); i > 0; i--)
      field.invalid(list, 'unsupported scope applied to resource');
  }
  conflicting(new Set(list), list, field);
}

function requirementOperator(requirement: JsonObject, scope: string, field: Field): void {
  const operator = text(requirement['operator']);
  const values = strings(requirement['values']);
  const path = field.child('operator');
  if (onlyExists.includes(scope) && operator !== 'Exists') {
    const names =
      'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';
    path.invalid(operator, `must be 'Exists' when scope is any of ${names}`);
  }
  if (operator === 'In' || operator === 'NotIn') {
    const rule = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) field.child('values').required(rule);
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const rule = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) field.child('values').invalid(values, rule);
  } else path.invalid(operator, 'not a valid selector operator');
}

/** Paths have no index here: kube-apiserver gives none. */
function selector(spec: JsonObject, field: Field): void {
  const own = spec['scopeSelector'];
  if (!isRecord(own)) return;
  const path = field.child('scopeSelector', 'matchExpressions');
  const seen = new Set<string>();
  for (const requirement of records(at(own, 'matchExpressions'))) {
    const scope = text(requirement['scopeName']);
    if (!isScope(scope)) path.child('scopeName').invalid(scope, 'unsupported scope');
    for (let i = uncounted(spec, scope); i > 0; i--)
      path.invalid(internal(own, 'core.ScopeSelector'), 'unsupported scope applied to resource');
    requirementOperator(requirement, scope, path);
    seen.add(scope);
  }
  conflicting(seen, spec['scopes'], path);
}

function amounts(list: unknown, field: Field): void {
  for (const [name, amount] of Object.entries(record(list))) {
    const path = field.key(name);
    resourceName(name, path);
    if (!name.includes('/') && !isQuotaResource(name))
      path.invalid(name, 'must be a standard resource for quota');
    resourceQuantity(name, amount, path);
  }
}

const resourceQuota: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  amounts(spec['hard'], field.child('hard'));
  scopes(spec, field.child('scopes'));
  selector(spec, field);
  if (!oldSpec) return;
  const [now, before] = [new Set(strings(spec['scopes'])), new Set(strings(oldSpec['scopes']))];
  if (now.size === before.size && [...now].every((scope) => before.has(scope))) return;
  field.child('scopes').invalid(given(spec, 'scopes'), immutable);
};

export const quotaChecks: KindChecks = { '/ResourceQuota': resourceQuota };

export const quotaStatus: SubresourceCheck = ({ status }, _old, root) => {
  for (const list of ['hard', 'used']) amounts(at(status, list), root.child('status', list));
};
