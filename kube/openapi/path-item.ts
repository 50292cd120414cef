import { deepEqual } from '../deep.ts';
import type { JsonObject } from '../object.ts';

/** What all operations of a path take is said once, of the path; nothing is said to take no parameters. */
export function pathItem(
  operations: readonly [string, JsonObject][],
  own: readonly JsonObject[],
): JsonObject {
  const taken = (operation: JsonObject) => (operation['parameters'] ?? []) as JsonObject[];
  const [first, ...others] = operations.map(([, operation]) => taken(operation));
  const shared = (first ?? []).filter((one) =>
    others.every((taken) => taken.some((other) => deepEqual(one, other))),
  );
  const isShared = (one: JsonObject) => shared.some((other) => deepEqual(one, other));
  const without = operations.map(([method, { parameters: _, ...operation }], index) => {
    const left = [first ?? [], ...others][index]?.filter((one) => !isShared(one)) ?? [];
    return [method, { ...operation, ...(left.length > 0 && { parameters: left }) }];
  });
  const parameters = [...own, ...shared].sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1));
  return { ...Object.fromEntries(without), ...(parameters.length > 0 && { parameters }) };
}
