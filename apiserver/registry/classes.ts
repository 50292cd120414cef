import type { KubeObject } from '../../kube/object.ts';
import { schedulingGroup } from '../../kube/priority-classes.ts';
import type { Store } from '../../storage/store.ts';
import { Ahead } from './ahead.ts';
import { collectionRange, parseKey, type StoredAs } from './keys.ts';
import { notesOf } from './notes.ts';

export type ClassResource = 'priorityclasses';

export const classKinds: Readonly<Record<ClassResource, StoredAs>> = {
  priorityclasses: { group: schedulingGroup, resource: 'priorityclasses', namespaced: false },
};

const notes = notesOf(schedulingGroup);

export function classResource(group: string, resource: string): ClassResource | undefined {
  return group === schedulingGroup && resource === 'priorityclasses' ? resource : undefined;
}

/** Which logical clusters have the system's PriorityClasses as objects, whichever server wrote them. */
export class Classes {
  readonly #written = new Set<string>();
  readonly #ahead = new Ahead(collectionRange(notes, '*', ''), (key, note) => {
    const { cluster } = parseKey(notes, key);
    if (note === undefined) this.#written.delete(cluster);
    else this.#written.add(cluster);
  });

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    return this.#ahead.follow(store, signal);
  }

  /** This server wrote the note, or deleted it, just now. */
  wrote(key: string, note: KubeObject | undefined, revision: number): void {
    this.#ahead.wrote(key, note, revision);
  }

  isWritten(cluster: string): boolean {
    return this.#written.has(cluster);
  }
}
