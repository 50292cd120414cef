import { authorization } from './authorizer.ts';
import type { Budget } from './budget.ts';
import { conversions } from './conversions.ts';
import { formats } from './formats.ts';
import { lists } from './lists.ts';
import { at, member, optionalAt } from './members.ts';
import { network } from './network.ts';
import { quantities } from './quantity.ts';
import type { Run } from './run.ts';
import { semvers } from './semver.ts';
import { sets } from './sets.ts';
import { strings } from './strings.ts';
import { times } from './times.ts';
import { isMap, mapSize, none, noOverload, Optional, setEntry, Uint, type Value } from './values.ts';

/** Functions, by the names that typed/functions.ts declares. */
export const functions: Readonly<Record<string, Run>> = {
  '_[_]': (_, of, key) => at(of, key),
  '_[?_]': (_, of, key) => optionalAt(of, key),
  '_?._': (_, of, name) => {
    if (of instanceof Optional) return member(of, String(name));
    return optionalAt(of, name);
  },
  '@in': (budget, item, within) => {
    if (isMap(within)) return optionalAt(within, item).hasValue;
    return sets.has(budget, item, within);
  },
  'cel.@mapInsert': (budget, map, key, value) => {
    if (!isMap(map)) throw noOverload();
    budget.charge(mapSize(map));
    const made = new Map<Value, Value>(map instanceof Map ? map : Object.entries(map));
    setEntry(made, key, value);
    return made;
  },
  'optional.of': (_, value) => new Optional(value),
  'optional.none': () => none,
  'optional.ofNonZeroValue': (budget, value) => {
    if (isMap(value)) budget.charge(mapSize(value) / 10);
    return isZero(value) ? none : new Optional(value);
  },
  'optional.unwrap': (budget, list) => unwrapped(budget, list),
  unwrapOpt: (budget, list) => unwrapped(budget, list),
  hasValue: (_, of) => optional(of).hasValue,
  value: (_, of) => lists.held(optional(of)),
  or: (_, of, other) => (optional(of).hasValue ? of : optional(other)),
  orValue: (_, of, other) => (optional(of).hasValue ? optional(of).value : other),
  size: (budget, of) => {
    if (isMap(of)) {
      const count = mapSize(of);
      budget.charge(count / 10);
      return BigInt(count);
    }
    if (typeof of === 'string') return BigInt(strings.characters(budget, of).length);
    if (Array.isArray(of) || of instanceof Uint8Array) return BigInt(of.length);
    throw noOverload();
  },
  'jsonpatch.escapeKey': (budget, key) => {
    if (typeof key !== 'string') throw noOverload();
    budget.charge(Math.ceil(key.length / 10));
    return key.replaceAll('~', '~0').replaceAll('/', '~1');
  },
  ...conversions,
  ...strings.functions,
  ...lists.functions,
  ...sets.functions,
  ...times,
  ...quantities,
  ...network,
  ...semvers,
  ...formats,
  ...authorization,
};

function optional(value: Value): Optional {
  if (value instanceof Optional) return value;
  throw noOverload();
}

function unwrapped(budget: Budget, list: Value): Value[] {
  if (!Array.isArray(list)) throw noOverload();
  budget.charge(list.length);
  return list.flatMap((one) => (optional(one).hasValue ? [optional(one).value] : []));
}

function isZero(value: Value): boolean {
  if (value instanceof Uint) return value.value === 0n;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (isMap(value)) return mapSize(value) === 0;
  return value === null || value === false || value === 0 || value === 0n || value === '';
}
