import type { KubeObject } from '../../kube/object.ts';
import { type RbacResource, rbacResources } from '../../kube/rbac/bootstrap.ts';
import { rbacGroup } from '../../kube/rbac/rule.ts';
import { type Entry, prefixRange, type Store } from '../../storage/store.ts';
import { RoleIndex } from '../authz/rbac/role-index.ts';
import { decodeStored } from './codec.ts';
import { follow } from './follow.ts';
import { parseKey, type StoredAs } from './keys.ts';

const everything = prefixRange(`/${rbacGroup}/`);

/** Among the objects, in the order of the same watch: that a logical cluster has the defaults of a kind as objects. */
const notes: StoredAs = { group: rbacGroup, resource: '!written', namespaced: false };

export function noteKey(cluster: string, resource: RbacResource): string {
  return `/${rbacGroup}/${notes.resource}/${cluster}/${resource}`;
}

export const rbacKinds: Readonly<Record<RbacResource, StoredAs>> = {
  clusterroles: { group: rbacGroup, resource: 'clusterroles', namespaced: false },
  clusterrolebindings: { group: rbacGroup, resource: 'clusterrolebindings', namespaced: false },
  roles: { group: rbacGroup, resource: 'roles', namespaced: true },
  rolebindings: { group: rbacGroup, resource: 'rolebindings', namespaced: true },
};

export function rbacResource(group: string, resource: string): RbacResource | undefined {
  return group === rbacGroup ? rbacResources.find((one) => one === resource) : undefined;
}

/**
 * Roles and bindings as the store has them, whichever server wrote them. A write of this server counts before it is
 * answered, for the watch may tell of it later.
 */
export class Roles {
  readonly index = new RoleIndex();
  /** The newest revision up to which all was told. */
  #told = 0;
  /** What writes of this server told of, ahead of the watch. */
  readonly #ahead = new Map<string, number>();

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    const hear = (key: string, object: KubeObject | undefined, revision: number): void => {
      this.#told = Math.max(this.#told, revision);
      if ((this.#ahead.get(key) ?? 0) > revision) return;
      this.#ahead.delete(key);
      this.#learn(key, object);
    };
    const put = (entry: Entry) => hear(entry.key, decodeStored(entry), entry.revision);
    const gone = (key: string, revision: number) => hear(key, undefined, revision);
    const listed = (there: ReadonlySet<string>, revision: number) => {
      this.#told = Math.max(this.#told, revision);
      for (const [key, at] of this.#ahead) if (at <= revision && !there.has(key)) gone(key, revision);
    };
    return follow(store, everything, { put, gone, listed }, signal);
  }

  /** This server wrote, or deleted, just now. */
  wrote(key: string, object: KubeObject | undefined, revision: number): void {
    if (revision <= this.#told || revision <= (this.#ahead.get(key) ?? 0)) return;
    this.#ahead.set(key, revision);
    this.#learn(key, object);
  }

  #learn(key: string, object: KubeObject | undefined): void {
    const named = key.split('/')[2];
    if (named === notes.resource) {
      const { cluster, name } = parseKey(notes, key);
      const resource = rbacResource(rbacGroup, name);
      if (resource) this.index.note(cluster, resource, object !== undefined);
      return;
    }
    const resource = rbacResource(rbacGroup, named ?? '');
    if (resource === undefined) return;
    const at = { resource, ...parseKey(rbacKinds[resource], key) };
    this.index.put(at, object);
  }
}
