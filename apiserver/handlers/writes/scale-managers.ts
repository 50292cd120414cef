import type { ManagedFieldsEntry } from '../../../kube/object.ts';
import { type FieldPath, FieldSet } from '../../../kube/patch/fields.ts';
import { decodeManagers, encodeManagers, type ManagerEntry } from '../../../kube/patch/managers.ts';

/** Where an object has its replicas, by apiVersion; undefined where it has none. Entries of versions that are not here are dropped. */
export type ReplicasPaths = (apiVersion: string) => { path: FieldPath | undefined } | undefined;

const scaleVersion = 'autoscaling/v1';
const inScale: FieldPath = ['f:spec', 'f:replicas'];

/** Who owns a Scale's replicas: who owns the object's. */
export function managersOfScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  pathsOf: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const managers = new Map<string, ManagerEntry>();
  for (const [id, entry] of decodeManagers(entries, 'stored')) {
    const path = pathsOf(entry.apiVersion)?.path;
    if (path === undefined || !entry.set.has(path)) continue;
    managers.set(id, { ...entry, apiVersion: scaleVersion, set: FieldSet.of(inScale) });
  }
  return encodeManagers(managers);
}

/**
 * The object's managers after those of its Scale changed, as kube-apiserver has them: whoever has updated it is
 * somebody else in the version of Scales, and who comes to it is given no time.
 */
export function managersByScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, pathsOf }: { apiVersion: string; pathsOf: ReplicasPaths },
): ManagedFieldsEntry[] | undefined {
  const owners = decodeManagers(scale, 'given');
  const managers = new Map<string, ManagerEntry>();
  for (const [id, entry] of decodeManagers(entries, 'stored')) {
    const known = pathsOf(entry.apiVersion);
    if (known === undefined) continue;
    const { path } = known;
    const hasIt = path !== undefined && entry.set.has(path);
    const set = hasIt && !owners.has(id) ? entry.set.difference(FieldSet.of(path)) : entry.set;
    if (hasIt) owners.delete(id);
    if (!set.isEmpty()) managers.set(id, set === entry.set ? entry : { ...entry, set });
  }
  const path = pathsOf(apiVersion)?.path;
  for (const [id, entry] of owners) {
    if (path === undefined || !entry.set.has(inScale)) continue;
    managers.set(id, { ...entry, apiVersion, time: undefined, set: FieldSet.of(path) });
  }
  return encodeManagers(managers);
}
