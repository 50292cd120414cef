import type { KubeObject } from '../../kube/object.ts';
import { type RbacResource, rbacResources } from '../../kube/rbac/bootstrap.ts';
import { rbacGroup } from '../../kube/rbac/rule.ts';
import { prefixRange, type Store } from '../../storage/store.ts';
import { RoleIndex } from '../authz/rbac/role-index.ts';
import { Ahead } from './ahead.ts';
import { parseKey, type StoredAs } from './keys.ts';
import { notesOf } from './notes.ts';

export const rbacKinds: Readonly<Record<RbacResource, StoredAs>> = {
  clusterroles: { group: rbacGroup, resource: 'clusterroles', namespaced: false },
  clusterrolebindings: { group: rbacGroup, resource: 'clusterrolebindings', namespaced: false },
  roles: { group: rbacGroup, resource: 'roles', namespaced: true },
  rolebindings: { group: rbacGroup, resource: 'rolebindings', namespaced: true },
};

const notes = notesOf(rbacGroup);

export function rbacResource(group: string, resource: string): RbacResource | undefined {
  return group === rbacGroup ? rbacResources.find((one) => one === resource) : undefined;
}

export const notesRange = prefixRange(`/${rbacGroup}/${notes.resource}/`);

export function readNoteKey(key: string): { cluster: string; resource: RbacResource | undefined } {
  const { cluster, name } = parseKey(notes, key);
  return { cluster, resource: rbacResource(rbacGroup, name) };
}

/** Roles and bindings as the store has them, whichever server wrote them. */
export class Roles {
  readonly index = new RoleIndex();
  readonly #ahead = new Ahead(prefixRange(`/${rbacGroup}/`), (key, object) => this.#learn(key, object));

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    return this.#ahead.follow(store, signal);
  }

  /** This server wrote, or deleted, just now. */
  wrote(key: string, object: KubeObject | undefined, revision: number): void {
    this.#ahead.wrote(key, object, revision);
  }

  #learn(key: string, object: KubeObject | undefined): void {
    const named = key.split('/')[2];
    if (named === notes.resource) {
      const { cluster, resource } = readNoteKey(key);
      if (resource) this.index.note(cluster, resource, object !== undefined);
      return;
    }
    const resource = rbacResource(rbacGroup, named ?? '');
    if (resource === undefined) return;
    const at = { resource, ...parseKey(rbacKinds[resource], key) };
    this.index.put(at, object);
  }
}
