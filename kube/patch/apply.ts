import { deepEqual } from '../deep.ts';
import { parseApiVersion } from '../gvk.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';
import { ApplyConflict } from './conflicts.ts';
import { FieldSet } from './fields.ts';
import { hasLastApplied, lastAppliedSet, withLastApplied } from './last-applied.ts';
import { decodeManagers, type ManagerEntry, managerId, withoutServerFields } from './managers.ts';
import { takeOwnership } from './ownership.ts';
import { dropPrunedNulls, prune } from './prune.ts';
import { type ApplyManagement, identityOf, recordUpdate, unmanaged, withManagers } from './record.ts';
import { fieldSetOf, merge, TypedError, validate } from './typed.ts';

/**
 * Server-side apply: the stored object after this manager's wishes, managedFields included, not yet defaulted
 * or validated. https://kubernetes.io/docs/reference/using-api/server-side-apply/
 *
 * `live` is undefined for a create by apply. When nothing changes, the entry keeps its time. Throws StatusError:
 * 409 Conflict with FieldManagerConflict causes, 400, and 500 for objects their schema does not admit.
 */
export function applyServerSide(
  live: KubeObject | undefined,
  applied: KubeObject,
  management: ApplyManagement,
): { object: KubeObject } {
  checkApplied(applied, management);
  const managers = managersBeforeApply(live, management);
  let result: Applied;
  try {
    result = apply(live, applied, managers, management);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    result = upgradeClientSideApply(error, live, applied, managers, management);
  }
  const { object } = result;
  const synced =
    management.manager === 'kubectl' && hasLastApplied(object) ? withLastApplied(object, applied) : object;
  return { object: withManagers(synced, result.managers) };
}

interface Applied {
  object: KubeObject;
  managers: Map<string, ManagerEntry>;
}

/** Group/version, Kind=Name: how Go prints a GroupVersionKind. */
function describeKind({ apiVersion, kind }: KubeObject): string {
  const { group, version } = parseApiVersion(apiVersion ?? '');
  return `${group}/${version}, Kind=${kind ?? ''}`;
}

function checkApplied(applied: KubeObject, management: ApplyManagement): void {
  if (applied.apiVersion !== management.apiVersion) {
    throw badRequest(`invalid object type: ${describeKind(applied)}`);
  }
  if (applied.metadata?.managedFields !== undefined && applied.metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  try {
    validate(applied as JsonObject, management.schema);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    const { namespace, name } = (applied.metadata ?? {}) as { [field: string]: unknown };
    const text = (value: unknown) => (typeof value === 'string' ? value : '');
    const what = `${text(namespace)}/${text(name)}; ${describeKind(applied)}`;
    const message = `failed to create typed patch object (${what}): ${error.message}`;
    throw new StatusError(500, '', message, undefined, error);
  }
}

/** An object that nobody tracked so far belongs to `before-first-apply`. */
function managersBeforeApply(
  live: KubeObject | undefined,
  management: ApplyManagement,
): Map<string, ManagerEntry> {
  let managers: Map<string, ManagerEntry>;
  try {
    managers = decodeManagers(live?.metadata.managedFields, 'stored');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StatusError(500, '', `failed to decode managed fields: ${why}`, undefined, error);
  }
  if (managers.size === 0 && live) {
    recordUpdate(managers, undefined, live, { ...management, manager: 'before-first-apply' });
  }
  return managers;
}

function apply(
  live: KubeObject | undefined,
  applied: KubeObject,
  owners: ReadonlyMap<string, ManagerEntry>,
  management: ApplyManagement,
): Applied {
  const { schema, ignore, force } = management;
  const managers = new Map(owners);
  const before = (live ? unmanaged(live) : {}) as JsonObject;
  const merged = merge(before, applied as JsonObject, schema) as JsonObject;
  const self = identityOf(management, 'Apply');
  const id = managerId(self);
  const last = managers.get(id);
  const wanted = fieldSetOf(applied as JsonObject, schema);
  const set = ignore ? wanted.recursiveDifference(ignore) : wanted;
  managers.set(id, { ...self, time: last?.time, set });
  const pruned = prune(merged, managers, last?.set ?? new FieldSet(), schema);
  takeOwnership(managers, id, { before, after: pruned, management }, force);
  const after = dropPrunedNulls(pruned, merged);
  const changed = !deepEqual(before, after);
  const wished = withoutServerFields(set);
  const owned = last?.set.equals(wished) ? last.set : wished;
  if (owned.isEmpty()) managers.delete(id);
  else managers.set(id, { ...self, time: changed ? management.time : last?.time, set: owned });
  return { object: (changed ? after : before) as KubeObject, managers };
}

/**
 * `kubectl apply --server-side` on an object of client-side apply: what the last-applied annotation says was
 * its own is no conflict.
 */
function upgradeClientSideApply(
  conflict: ApplyConflict,
  live: KubeObject | undefined,
  applied: KubeObject,
  managers: ReadonlyMap<string, ManagerEntry>,
  management: ApplyManagement,
): Applied {
  const allowed = management.manager === 'kubectl' && live ? lastAppliedSet(live, management) : undefined;
  if (!allowed) throw conflict.toStatusError();
  const remaining = conflict.conflicts.filter(({ path }) => !allowed.has(path));
  if (remaining.length > 0) throw new ApplyConflict(remaining).toStatusError();
  return apply(live, applied, managers, { ...management, force: true });
}
