import { sameJson } from '../deep.ts';
import { systemPriority } from '../priority-classes.ts';
import { at, int, text } from '../untyped.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { immutable, intOrPercent, notAbove100Percent, oneOf } from './rules.ts';

const disruptionBudget: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    const shown = internal(spec, 'policy.PodDisruptionBudgetSpec');
    field.invalid(shown, 'minAvailable and maxUnavailable cannot be both set');
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
    const why = noSystemClass(name, value, object['globalDefault'] === true);
    const rule = "priority class names with 'system-' prefix are reserved for system use only.";
    if (why !== undefined) root.child('metadata', 'name').forbidden(`${rule} error: ${why}`);
  } else if (value > 1_000_000_000) {
    root.child('value').forbidden('maximum allowed value of a user defined priority is 1000000000');
  }
  const policies = ['PreemptLowerPriority', 'Never'];
  oneOf(object['preemptionPolicy'], policies, root.child('preemptionPolicy'));
};

function noSystemClass(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = systemPriority(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export const policyChecks: KindChecks = {
  'policy/PodDisruptionBudget': disruptionBudget,
  'scheduling.k8s.io/PriorityClass': priorityClass,
};
