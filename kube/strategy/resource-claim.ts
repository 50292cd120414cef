import { allocatedTo, deviceId } from '../devices.ts';
import type { KubeObject } from '../object.ts';
import { record, records } from '../untyped.ts';

/** What was told of devices goes when a claim gives them up: whoever takes them from it may know of no such thing. */
export function dropGivenUp(object: KubeObject, old: KubeObject): void {
  const status = record(object.status);
  const had = new Set(allocatedTo(old).map(deviceId));
  for (const one of allocatedTo(object)) had.delete(deviceId(one));
  const kept = records(status['devices']).filter((one) => !had.has(deviceId(one)));
  if (kept.length > 0) status['devices'] = kept;
  else delete status['devices'];
}
