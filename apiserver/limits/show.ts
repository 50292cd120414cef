import type { ClusterUse } from '../../cluster/limits.ts';
import { logicalClusters, workspaces } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { record, textAt } from '../../kube/untyped.ts';
import type { Entry } from '../../storage/store.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';
import { parseKey, type StoredAs } from '../registry/keys.ts';

const inside: StoredAs = { ...logicalClusters, namespaced: false };

/**
 * LogicalClusters and Workspaces as they are read: with what they use, which is never stored, so that it costs no writes.
 * Undefined where entries are shown as they are: of other kinds, in watches, and to our own controllers, who do not look.
 */
export function withUse<E extends Entry>(
  exchange: ResourceExchange,
  entries: E[],
): Promise<Entry[]> | undefined {
  const { core, info, stored, user } = exchange;
  const { gate } = core;
  if (gate === undefined || entries.length === 0 || !usesShown(stored.info) || info.verb === 'watch')
    return undefined;
  if (isOwnController(user)) return undefined;
  const objects = entries.map((entry) => decodeStored(entry));
  const ids = objects.map((object, i) => idOf(stored.info, object, entries[i]?.key ?? ''));
  return gate.use(ids).then(
    (uses) =>
      entries.map((entry, i) => shown(entry, objects[i] as KubeObject, ids[i] === '' ? undefined : uses[i])),
    // Who reads is answered, though nobody can count now.
    () => entries,
  );
}

export function usesShown({ group, resource }: { group: string; resource: string }): boolean {
  return [logicalClusters, workspaces].some((one) => one.group === group && one.resource === resource);
}

/** What was shown, and comes back with a status, is not kept. */
export function dropUse(object: KubeObject): void {
  const { hard: _hard, used: _used, ...status } = record(object.status);
  if (object.status !== undefined) object.status = status;
}

function idOf({ resource }: StoredAs, object: KubeObject, key: string): string {
  return resource === inside.resource
    ? parseKey(inside, key).cluster
    : (textAt(object.spec, 'cluster') ?? '');
}

function shown(entry: Entry, object: KubeObject, use: ClusterUse | undefined): Entry {
  if (use === undefined) return entry;
  const { hard, used } = use;
  const status = { ...record(object.status), ...(hard && Object.keys(hard).length > 0 && { hard }), used };
  return { ...entry, value: encodeStored({ ...object, status } as KubeObject) };
}
