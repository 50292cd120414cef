import { compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import type { JsonObject } from '../../object.ts';
import { addQuantity, compareQuantity, formatQuantity, type Quantity } from '../../quantity.ts';
import { at, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { claimNames, huge, resourceName, resources } from './resources.ts';

const podResources = ['cpu', 'hugepages-', 'memory'];

function podResourceName(name: string, field: Field): void {
  if (resourceName(name, field) && !podResources.includes(name) && !huge(name))
    field.notSupported(name, podResources);
}

/** What a whole pod may use. https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/ */
export function podLevelResources(spec: JsonObject, field: Field): void {
  const value = spec['resources'];
  if (!isRecord(value)) return;
  if (at(spec, 'os', 'name') === 'windows') {
    field.forbidden('may not be set for a windows pod');
    return;
  }
  if (value['claims'] !== undefined)
    field.child('claims').forbidden('claims may not be set for Resources at pod-level');
  resources(value, claimNames(spec), field, podResourceName);
  const requests = record(value['requests']);
  const limits = record(value['limits']);
  for (const [name, sum] of aggregate(spec, 'requests')) {
    if (atLeast(requests[name], sum)) continue;
    const rule = `must be greater than or equal to aggregate container requests of ${formatQuantity(sum)}`;
    field.child('requests').key(name).invalid(requests[name], rule);
  }
  for (const [name, sum] of aggregate(spec, 'limits')) {
    if (!huge(name) || atLeast(limits[name], sum)) continue;
    const rule = `must be greater than or equal to aggregate container limits of ${formatQuantity(sum)}`;
    field.child('limits').key(name).invalid(limits[name], rule);
  }
  for (const [index, container] of records(spec['containers']).entries()) {
    const own = record(at(container, 'resources', 'limits'));
    for (const name of Object.keys(own)) {
      if (!Object.hasOwn(limits, name) || (compareQuantities(own[name], limits[name]) ?? 0) <= 0) continue;
      const rule = `must be less than or equal to pod limits of ${text(limits[name])}`;
      field.child('containers').index(index).key(name).child('limits').invalid(own[name], rule);
    }
  }
}

/** Absent counts as enough. */
function atLeast(value: unknown, least: Quantity): boolean {
  const quantity = parseQuantity(value);
  return quantity === undefined || compareQuantity(quantity, least) >= 0;
}

type Sums = Map<string, Quantity>;

function add(into: Sums, list: Iterable<[string, Quantity]>): Sums {
  for (const [name, quantity] of list) {
    const sum = into.get(name);
    into.set(name, sum ? addQuantity(sum, quantity) : quantity);
  }
  return into;
}

function raise(into: Sums, list: Sums): void {
  for (const [name, quantity] of list) {
    const most = into.get(name);
    if (!most || compareQuantity(quantity, most) > 0) into.set(name, quantity);
  }
}

/** What containers may use at one time: all regular and restarting ones, or one init container and those before it. */
function aggregate(spec: JsonObject, kind: 'requests' | 'limits'): Sums {
  const listOf = (container: JsonObject) =>
    Object.entries(record(at(container, 'resources', kind))).flatMap(
      ([name, value]): [string, Quantity][] => {
        const quantity = parseQuantity(value);
        return quantity ? [[name, quantity]] : [];
      },
    );
  const all: Sums = new Map();
  for (const container of records(spec['containers'])) add(all, listOf(container));
  const restarting: Sums = new Map();
  const initial: Sums = new Map();
  for (const container of records(spec['initContainers'])) {
    if (container['restartPolicy'] === 'Always') {
      add(all, listOf(container));
      raise(initial, add(restarting, listOf(container)));
    } else raise(initial, add(new Map(restarting), listOf(container)));
  }
  raise(all, initial);
  return all;
}
