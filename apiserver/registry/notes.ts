import type { StoredAs } from './keys.ts';

/** Among the objects of a group, in the order of the same watch: that a logical cluster has the defaults of a kind as objects. */
export function notesOf(group: string): StoredAs {
  return { group, resource: '!written', namespaced: false };
}
