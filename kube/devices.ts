import type { JsonObject, KubeObject } from './object.ts';
import { at, records, text } from './untyped.ts';

const parts = ['driver', 'pool', 'device', 'shareID'] as const;

/** Which device of which pool, and which share of it: what a claim was given, and what is told of it, have it in common. */
export function deviceId(one: JsonObject): string {
  return JSON.stringify(parts.map((part) => text(one[part])));
}

/** The devices that a ResourceClaim was given. */
export function allocatedTo({ status }: KubeObject): JsonObject[] {
  return records(at(status, 'allocation', 'devices', 'results'));
}
