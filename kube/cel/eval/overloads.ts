import { type Budget, RunError } from './budget.ts';
import type { Operator } from './operators.ts';
import type { Run } from './run.ts';
import { Opaque, typeOf, type Value } from './values.ts';

/** Whose left operand must be one of these types; what has methods refuses an operator without saying which. */
const operands: Readonly<Record<string, readonly string[]>> = {
  '_+_': ['bytes', 'double', 'int', 'list', 'string', 'uint'],
  '_-_': ['double', 'int', 'string', 'uint'],
  '_*_': ['double', 'int', 'string', 'uint'],
  '_/_': ['double', 'int', 'string', 'uint'],
  '_%_': ['int', 'string', 'uint'],
  '_<_': ['bool', 'bytes', 'double', 'int', 'string', 'uint'],
  '_<=_': ['bool', 'bytes', 'double', 'int', 'string', 'uint'],
  '_>_': ['bool', 'bytes', 'double', 'int', 'string', 'uint'],
  '_>=_': ['bool', 'bytes', 'double', 'int', 'string', 'uint'],
  '-_': ['bool', 'double', 'int', 'string'],
};
const times = ['google.protobuf.Timestamp', 'google.protobuf.Duration'];

/** Told without the types of what they were given, and told by no name. */
const untold = ['size', 'sort'];
const unnamed = ['@in', 'contains', 'endsWith', 'find', 'findAll', 'flatten', 'matches', 'startsWith'];

/** Where no overload takes the arguments, the failure tells the function and their types; of lists it is their elements. */
export function call(run: Run, name: string, budget: Budget, given: readonly Value[]): Value {
  try {
    return run(budget, ...given);
  } catch (error) {
    if (!isOverload(error) || Array.isArray(given[0]) || unnamed.includes(name)) throw error;
    const types = untold.includes(name) ? '' : `(${given.map(typeOf).join(', ')})`;
    throw new RunError(`no such overload: ${name}${types}`);
  }
}

export function operate(operator: Operator, name: string, budget: Budget, left: Value, right: Value): Value {
  try {
    return operator(budget, left, right);
  } catch (error) {
    const types = Object.hasOwn(operands, name) ? operands[name] : undefined;
    const type = typeOf(left);
    if (!isOverload(error) || !types || types.includes(type) || times.includes(type)) throw error;
    throw new RunError(`no such overload: ${name}`);
  }
}

function isOverload(error: unknown): boolean {
  return error instanceof RunError && error.message === 'no such overload';
}

const goNames: Readonly<Record<string, string>> = {
  null_type: 'Null',
  'google.protobuf.Timestamp': 'Timestamp',
  'google.protobuf.Duration': 'Duration',
};

/** Of what no macro walks through. */
export function notIterable(value: Value): RunError {
  if (value instanceof Opaque) return new RunError('no such overload');
  const type = typeOf(value);
  const name = goNames[type] ?? `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  return new RunError(`got 'types.${name}', expected iterable type`);
}
