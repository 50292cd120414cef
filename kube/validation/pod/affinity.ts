import { validateDns1123Label, validateLabelValue } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, int, isRecord, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { labelSelector, requirementShape } from '../labels.ts';
import { dns1123Subdomain, positive, qualifiedName } from '../rules.ts';

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeSelectorTerm(term: unknown, checkValues: boolean, field: Field): void {
  for (const [index, expression] of records(at(term, 'matchExpressions')).entries()) {
    const path = field.child('matchExpressions').index(index);
    requirementShape(expression, path, ['Gt', 'Lt']);
    if (!checkValues) continue;
    for (const [i, value] of strings(expression['values']).entries()) {
      path.child('values').index(i).invalidAll(value, validateLabelValue(value));
    }
  }
  for (const [index, expression] of records(at(term, 'matchFields')).entries()) {
    const path = field.child('matchFields').index(index);
    const operator = text(expression['operator']);
    if (operator !== 'In' && operator !== 'NotIn') {
      path.child('operator').invalid(operator, 'not a valid selector operator');
    } else if (strings(expression['values']).length !== 1) {
      path
        .child('values')
        .required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    }
    const key = text(expression['key']);
    if (key !== 'metadata.name') {
      path.child('key').invalid(key, 'not a valid field selector key');
      continue;
    }
    for (const [i, value] of strings(expression['values']).entries())
      dns1123Subdomain(value, path.child('values').index(i));
  }
}

export function nodeSelector(selector: unknown, field: Field): void {
  const terms = records(at(selector, 'nodeSelectorTerms'));
  const path = field.child('nodeSelectorTerms');
  if (terms.length === 0) path.required('must have at least one node selector term');
  for (const [index, term] of terms.entries()) nodeSelectorTerm(term, true, path.index(index));
}

function weight(term: JsonObject, field: Field): void {
  const value = int(term['weight']);
  if (value <= 0 || value > 100) field.child('weight').invalid(value, 'must be in the range 1-100');
}

/** Keys whose values are those of the pod itself; the selector then has them already. */
function labelKeys(term: unknown, field: Field): void {
  const selector = at(term, 'labelSelector');
  const keys = strings(at(term, 'matchLabelKeys'));
  const others = strings(at(term, 'mismatchLabelKeys'));
  if (keys.length + others.length === 0) return;
  for (const [name, list] of [
    ['matchLabelKeys', keys],
    ['mismatchLabelKeys', others],
  ] as const) {
    if (list.length === 0) continue;
    const path = field.child(name);
    if (!isRecord(selector)) path.forbidden('must not be specified when labelSelector is not set');
    else for (const [index, key] of list.entries()) qualifiedName(key, path.index(index));
  }
  const seen = new Set(Object.keys(record(at(selector, 'matchLabels'))));
  for (const { key } of records(at(selector, 'matchExpressions'))) {
    const index = keys.lastIndexOf(text(key));
    if (index >= 0 && seen.has(text(key)))
      field.index(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
    seen.add(text(key));
  }
  for (const [index, key] of keys.entries()) {
    if (others.includes(key))
      field
        .child('matchLabelKeys')
        .index(index)
        .invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  }
}

function podAffinityTerm(term: unknown, field: Field): void {
  labelSelector(at(term, 'labelSelector'), field.child('labelSelector'));
  labelSelector(at(term, 'namespaceSelector'), field.child('namespaceSelector'));
  for (const name of strings(at(term, 'namespaces'))) {
    field.child('namespace').invalidAll(name, validateDns1123Label(name));
  }
  labelKeys(term, field);
  const topologyKey = text(at(term, 'topologyKey'));
  if (!topologyKey) field.child('topologyKey').required('can not be empty');
  qualifiedName(topologyKey, field.child('topologyKey'));
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/ */
export function affinity(value: unknown, field: Field): void {
  const node = at(value, 'nodeAffinity');
  const nodePath = field.child('nodeAffinity');
  if (isRecord(at(node, required))) nodeSelector(at(node, required), nodePath.child(required));
  for (const [index, term] of records(at(node, preferred)).entries()) {
    const path = nodePath.child(preferred).index(index);
    weight(term, path);
    nodeSelectorTerm(term['preference'], false, path.child('preference'));
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const path = field.child(kind);
    for (const [index, term] of records(at(value, kind, required)).entries()) {
      podAffinityTerm(term, path.child(required).index(index));
    }
    for (const [index, term] of records(at(value, kind, preferred)).entries()) {
      weight(term, path.child(preferred).index(index));
      podAffinityTerm(
        record(term['podAffinityTerm']),
        path.child(preferred).index(index).child('podAffinityTerm'),
      );
    }
  }
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway'];
const inclusion = ['Honor', 'Ignore'];

export function topologySpread(value: unknown, field: Field): void {
  const constraints = records(value);
  for (const [index, constraint] of constraints.entries()) {
    const path = field.index(index);
    positive(constraint['maxSkew'], path.child('maxSkew'));
    const key = text(constraint['topologyKey']);
    const action = text(constraint['whenUnsatisfiable']);
    if (!key) path.child('topologyKey').required('can not be empty');
    if (!unsatisfiable.includes(action)) path.child('whenUnsatisfiable').notSupported(action, unsatisfiable);
    const repeated = constraints
      .slice(index + 1)
      .some((other) => other['topologyKey'] === key && other['whenUnsatisfiable'] === action);
    if (repeated) path.child('{topologyKey, whenUnsatisfiable}').duplicate(`{${key}, ${action}}`);
    const domains = constraint['minDomains'];
    if (typeof domains === 'number') {
      positive(domains, path.child('minDomains'));
      if (action !== 'DoNotSchedule') {
        const rule = 'can only use minDomains if whenUnsatisfiable=DoNotSchedule';
        path.child('minDomains').invalid(domains, `${rule}, not ${action}`);
      }
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const given = constraint[policy];
      if (given !== undefined && !inclusion.includes(text(given)))
        path.child(policy).notSupported(given, inclusion);
    }
    labelKeys({ ...constraint, mismatchLabelKeys: [] }, path);
    labelSelector(constraint['labelSelector'], path.child('labelSelector'));
  }
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function taintEffect(value: unknown, field: Field): void {
  if (!effects.includes(text(value))) field.notSupported(value, effects);
}

export function tolerations(value: unknown, field: Field): void {
  for (const [index, toleration] of records(value).entries()) {
    const path = field.index(index);
    const key = text(toleration['key']);
    const operator = text(toleration['operator']);
    const wanted = text(toleration['value']);
    if (key) qualifiedName(key, path.child('key'));
    if (!key && operator !== 'Exists') {
      const meaning = 'which means "match all values and all keys"';
      path.child('operator').invalid(operator, `operator must be Exists when \`key\` is empty, ${meaning}`);
    }
    const effect = text(toleration['effect']);
    if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
      path.child('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === '' || operator === 'Equal') {
      const messages = validateLabelValue(wanted);
      if (messages.length > 0) path.child('operator').invalid(wanted, messages.join(';'));
    } else if (operator === 'Exists') {
      if (wanted) path.child('operator').invalid(wanted, "value must be empty when `operator` is 'Exists'");
    } else if (operator === 'Lt' || operator === 'Gt') {
      path.child('operator').notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
    } else path.child('operator').notSupported(operator, ['Equal', 'Exists']);
    if (effect) taintEffect(effect, path.child('effect'));
  }
}
