import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantity,
  zeroQuantity,
} from '../quantity.ts';
import { isRecord } from '../untyped.ts';

/** Amounts by resource name, as `requests`, `hard` and `used` hold them. */
export type ResourceList = ReadonlyMap<string, Quantity>;

export const one: Quantity = parseQuantity('1');

/** What is no quantity is left out: validation refuses it elsewhere. */
export function readList(value: unknown): Map<string, Quantity> {
  const list = new Map<string, Quantity>();
  if (!isRecord(value)) return list;
  for (const [name, amount] of Object.entries(value)) {
    if (typeof amount !== 'string' && typeof amount !== 'number' && typeof amount !== 'bigint') continue;
    try {
      list.set(name, parseQuantity(String(amount).trim()));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
  }
  return list;
}

/** In the order of names, as an API shows it. */
export function writeList(list: ResourceList): Record<string, string> {
  return Object.fromEntries(sortedNames(list.keys()).map((name) => [name, shown(list, name)]));
}

/** As messages have it: `cpu=1,pods=2`. */
export function printList(list: ResourceList): string {
  return sortedNames(list.keys())
    .map((name) => `${name}=${shown(list, name)}`)
    .join(',');
}

export function sortedNames(names: Iterable<string>): string[] {
  return [...new Set(names)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function shown(list: ResourceList, name: string): string {
  return formatQuantity(list.get(name) ?? zeroQuantity);
}

/** Of several formats the first that is not zero wins, as upstream. */
export function addTo(sum: Map<string, Quantity>, list: ResourceList): void {
  for (const [name, amount] of list) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantity(before, amount));
  }
}

export function added(a: ResourceList, b: ResourceList): Map<string, Quantity> {
  const sum = new Map(a);
  addTo(sum, b);
  return sum;
}

/** Where `list` has more. */
export function raiseTo(most: Map<string, Quantity>, list: ResourceList): void {
  for (const [name, amount] of list) {
    const before = most.get(name);
    if (before === undefined || compareQuantity(amount, before) > 0) most.set(name, amount);
  }
}

/** What `now` has more than `before`; nothing where it has less. */
export function increase(now: ResourceList, before: ResourceList): Map<string, Quantity> {
  const more = new Map<string, Quantity>();
  for (const [name, amount] of now) {
    const difference = subtractQuantity(amount, before.get(name) ?? zeroQuantity);
    if (difference.value > 0n) more.set(name, difference);
  }
  return more;
}

export function only(list: ResourceList, names: Iterable<string>): Map<string, Quantity> {
  const kept = new Map<string, Quantity>();
  for (const name of names) {
    const amount = list.get(name);
    if (amount !== undefined) kept.set(name, amount);
  }
  return kept;
}

export function withoutZeros(list: ResourceList): Map<string, Quantity> {
  return new Map([...list].filter(([, { value }]) => value !== 0n));
}

export function negatives(list: ResourceList): string[] {
  return sortedNames([...list].flatMap(([name, { value }]) => (value < 0n ? [name] : [])));
}

/** Where `list` is more than `bound` allows; a name without a bound is free. */
export function exceeding(list: ResourceList, bound: ResourceList): string[] {
  return sortedNames(list.keys()).filter((name) => {
    const most = bound.get(name);
    return most !== undefined && compareQuantity(list.get(name) ?? zeroQuantity, most) > 0;
  });
}

/** The same names with the same amounts, however they are written. */
export function sameList(a: ResourceList, b: ResourceList): boolean {
  if (a.size !== b.size) return false;
  for (const [name, amount] of a) {
    const other = b.get(name);
    if (other === undefined || compareQuantity(amount, other) !== 0) return false;
  }
  return true;
}
