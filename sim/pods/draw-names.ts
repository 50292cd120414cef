import type { Pod } from '../types.ts';

/**
 * Names for the draws of delays that are the same in every run: the owner's name and how many pods of it were seen
 * before. A pod's own name and uid are random.
 */
export class DrawNames {
  readonly #byUid = new Map<string, string>();
  readonly #seen = new Map<string, number>();

  nameOf(pod: Pod): string {
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const known = this.#byUid.get(uid);
    if (known !== undefined) return known;
    const owner = pod.metadata.ownerReferences?.find((ref) => ref.controller);
    const family = `${namespace}/${owner ? `${owner.kind}/${owner.name}` : `Pod/${name}`}`;
    const n = this.#seen.get(family) ?? 0;
    this.#seen.set(family, n + 1);
    const drawn = `${family}/${n}`;
    this.#byUid.set(uid, drawn);
    return drawn;
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
  }
}
