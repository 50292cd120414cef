import type { JsonObject, ManagedFieldsEntry, ObjectMeta } from '../object.ts';
import { FieldSet } from './fields.ts';

/** One manager's share of an object. */
export interface ManagerEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** By identity, see managerId. */
export type Managers = ReadonlyMap<string, ManagerEntry>;

/**
 * What makes two entries one: an applier is the same in every version, an updater is another in each. The text
 * sorts as kube-apiserver sorts managers in messages.
 */
export function managerId(entry: Omit<ManagerEntry, 'set' | 'time'>): string {
  return JSON.stringify({
    manager: entry.manager || undefined,
    operation: entry.operation,
    apiVersion: entry.operation === 'Apply' ? undefined : entry.apiVersion,
    subresource: entry.subresource || undefined,
  });
}

/** The text of sets read from the store, written in order there: unchanged ones need no second writing. */
const written = new WeakMap<FieldSet, JsonObject>();

/** Throws Error (SyntaxError for a broken set) with Kubernetes' reason. */
export function decodeManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
  source: 'stored' | 'given',
): Map<string, ManagerEntry> {
  const managers = new Map<string, ManagerEntry>();
  for (const [i, raw] of (entries ?? []).entries()) {
    const { operation, apiVersion = '', fieldsType = '' } = raw;
    if (operation !== 'Apply' && operation !== 'Update') {
      throw new Error('operation must be `Apply` or `Update`');
    }
    if (apiVersion === '') throw new Error('apiVersion must not be empty');
    if (fieldsType === '') throw new Error(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== 'FieldsV1') {
      throw new Error(`invalid fieldsType "${fieldsType}" in managed fields entry ${i}`);
    }
    const entry: ManagerEntry = {
      manager: raw.manager ?? '',
      operation,
      apiVersion,
      subresource: raw.subresource ?? '',
      time: raw.time,
      set: FieldSet.fromFieldsV1(raw.fieldsV1 ?? {}),
    };
    if (source === 'stored' && raw.fieldsV1) written.set(entry.set, raw.fieldsV1);
    managers.set(managerId(entry), entry);
  }
  return managers;
}

/** Sorted by operation, time, manager. Undefined when nobody owns anything. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(byOperationAndAge).map((entry) => ({
    ...(entry.manager && { manager: entry.manager }),
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time !== undefined && { time: entry.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: written.get(entry.set) ?? entry.set.toFieldsV1(),
    ...(entry.subresource && { subresource: entry.subresource }),
  }));
}

function byOperationAndAge(a: ManagerEntry, b: ManagerEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seconds(time: string | undefined): number {
  const parsed = time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
  return Number.isNaN(parsed) ? 0 : parsed;
}

/** `[]` and `[{}]` in a request throw all ownership away. */
export function isReset(meta: ObjectMeta): boolean {
  const entries = meta.managedFields;
  if (!Array.isArray(entries)) return false;
  if (entries.length !== 1) return entries.length === 0;
  return Object.values(entries[0] ?? {}).every((value) => value === undefined);
}

const maxUpdaters = 10;
const bucketName = 'ancient-changes';

/** Beyond ten updaters the oldest are rolled up, one bucket for each version. Changes the map. */
export function capUpdaters(managers: Map<string, ManagerEntry>): void {
  const updaters = [...managers].filter(([, entry]) => entry.operation === 'Update');
  let count = updaters.length;
  if (count <= maxUpdaters) return;
  updaters.sort(([x, a], [y, b]) => seconds(a.time) - seconds(b.time) || compareText(x, y));
  const firstOfVersion = new Map<string, string>();
  for (const [id, entry] of updaters) {
    if (count <= maxUpdaters) return;
    const { apiVersion } = entry;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    const bucket = { manager: bucketName, operation: 'Update', apiVersion, subresource: '' } as const;
    const bucketId = managerId(bucket);
    // The bucket may be as old as others and come after them: then it takes in the first of them.
    const rolled = id === bucketId ? first : id;
    const into = managers.get(bucketId) ?? managers.get(first);
    if (!managers.has(bucketId)) managers.delete(first);
    const set = managers.get(rolled)?.set ?? entry.set;
    managers.set(bucketId, { ...bucket, time: entry.time, set: into ? set.union(into.set) : set });
    managers.delete(rolled);
    count--;
  }
}

const f = (...names: string[]) => names.map((name) => `f:${name}`);

/** Written by the server; nobody owns them. */
const unowned = FieldSet.of(
  f('apiVersion'),
  f('kind'),
  f('metadata'),
  f('metadata', 'name'),
  f('metadata', 'namespace'),
  f('metadata', 'creationTimestamp'),
  f('metadata', 'selfLink'),
  f('metadata', 'uid'),
  f('metadata', 'clusterName'),
  f('metadata', 'generation'),
  f('metadata', 'managedFields'),
  f('metadata', 'resourceVersion'),
);

export function withoutServerFields(set: FieldSet): FieldSet {
  return set.difference(unowned);
}
