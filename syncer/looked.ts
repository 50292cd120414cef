import type { KubeObject } from '../kube/object.ts';
import { ourShape } from './reflected.ts';

/**
 * Which pods that are there nobody has looked at yet, and of which nobody knows whose they are. Kept as they come and are looked at: it is asked for
 * each workload of a namespace, which may have thousands.
 */
export class Looked {
  /** At `<physical namespace>/<name>`. */
  readonly #pod: (key: string) => KubeObject | undefined;
  /** By key, the uid of the pod that was looked at last, whoever's it is. */
  readonly #seen = new Map<string, string | undefined>();
  /** By physical namespace, the keys of the others that are there. */
  readonly #open = new Map<string, Set<string>>();
  /** By key, of which kinds the workload may be that made the pod, where nobody knows which it is. */
  readonly #unknown = new Map<string, readonly string[]>();

  constructor(pod: (key: string) => KubeObject | undefined) {
    this.#pod = pod;
  }

  /** The pod has come, is another one, or has gone. */
  changed(key: string): void {
    const [namespace = ''] = key.split('/');
    const pod = this.#pod(key);
    const open = this.#open.get(namespace);
    if (pod && ourShape.test(namespace) && this.#seen.get(key) !== pod.metadata.uid) {
      if (open) open.add(key);
      else this.#open.set(namespace, new Set([key]));
    } else if (open?.delete(key) && open.size === 0) this.#open.delete(namespace);
  }

  /** The pod of this uid was; undefined: that there is none. */
  at(key: string, uid: string | undefined): void {
    if (uid === undefined) this.#seen.delete(key);
    else this.#seen.set(key, uid);
    this.#unknown.delete(key);
    this.changed(key);
  }

  /** Made by a workload of one of these kinds, as `deployments.apps`. */
  isOfSome(key: string, kinds: readonly string[]): void {
    this.#unknown.set(key, kinds);
  }

  /** Whether all that are there were, and none of them may be of this kind and nobody knows. */
  isAll(namespace: string, kind: string): boolean {
    if (this.#open.has(namespace)) return false;
    for (const [key, kinds] of this.#unknown)
      if (key.startsWith(`${namespace}/`) && kinds.includes(kind) && this.#pod(key)) return false;
    return true;
  }
}
