import { compareQuantities, parseQuantity } from '../defaults/quantity.ts';
import { validateQualifiedName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { approximateQuantity } from '../quantity.ts';
import { at, record, records, text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { containerResourceName, isOvercommitted, resourceName } from './pod/resources.ts';

const limitTypes = ['Container', 'Pod', 'PersistentVolumeClaim'];
const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];

function limit(item: JsonObject, field: Field): void {
  const type = text(item['type']);
  const pods = type === 'Pod';
  const messages = validateQualifiedName(type);
  field.child('type').invalidAll(type, messages);
  if (messages.length === 0 && !type.includes('/') && !limitTypes.includes(type)) {
    field.child('type').invalid(type, 'must be a standard limit type or fully qualified');
  }
  const keys = new Set<string>();
  for (const name of lists) {
    const own = Object.keys(record(item[name]));
    if (pods && name.startsWith('default')) {
      if (own.length > 0) field.child(name).forbidden("may not be specified when `type` is 'Pod'");
      continue;
    }
    for (const key of own) {
      if (pods || type === 'Container') containerResourceName(key, field.child(name).key(key));
      else resourceName(key, field.child(name).key(key));
      keys.add(key);
    }
  }
  const unbound = at(item, 'max', 'storage') === undefined && at(item, 'min', 'storage') === undefined;
  if (type === 'PersistentVolumeClaim' && unbound) {
    const rule = 'either minimum or maximum storage value is required, but neither was provided';
    field.child('limits').required(rule);
  }
  for (const key of keys) {
    compareLimits(item, key, field);
    ratio(item, key, field.child('maxLimitRequestRatio').key(key));
  }
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
  if (isOvercommitted(key) || (compareQuantities(value('default'), value('defaultRequest')) ?? 0) === 0)
    return;
  const equal = `default value ${value('default')} must equal to defaultRequest value`;
  tell('defaultRequest', 'defaultRequest', `${equal} ${value('defaultRequest')} in ${key}`);
}

function ratio(item: JsonObject, key: string, field: Field): void {
  const value = at(item, 'maxLimitRequestRatio', key);
  const given = parseQuantity(value);
  if (!given) return;
  if ((compareQuantities(value, '1') ?? 0) < 0) field.invalid(value, `ratio ${value} is less than 1`);
  const [min, max] = [parseQuantity(at(item, 'min', key)), parseQuantity(at(item, 'max', key))];
  if (!min || !max) return;
  const most = approximateQuantity(max) / approximateQuantity(min);
  if (approximateQuantity(given) > most)
    field.invalid(value, `ratio ${value} is greater than max/min = ${most.toFixed(6)}`);
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

export const limitRangeChecks: KindChecks = { '/LimitRange': limitRange };
