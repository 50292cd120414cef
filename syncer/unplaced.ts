import type { KubeObject } from '../kube/object.ts';
import { listAt, textAt } from '../kube/untyped.ts';
import type { TargetId } from './target.ts';

const mostWords = 512;

/** Why a pod has no node yet, as its scheduler says it; undefined: it has one, or nobody has said anything. */
export function unplacedWords(pod: KubeObject | undefined): string | undefined {
  if (!pod || pod.metadata.deletionTimestamp || textAt(pod, 'spec', 'nodeName')) return undefined;
  const said = listAt(pod, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'status') === 'False',
  );
  return textAt(said, 'message')?.slice(0, mostWords) || undefined;
}

/** Numbers change with each node that comes, and say nothing else. */
const alike = (words: string) => words.replace(/\d+/g, '0');

/** By workload, which of its pods have no node, and why. */
export class Unplaced {
  readonly #words = new Map<TargetId, Map<string, string>>();
  readonly #targets = new Map<string, TargetId>();

  /** The pod at this key is that workload's, and is so now. Returns of which workloads something else is to be told. */
  at(key: string, target: TargetId | undefined, pod: KubeObject | undefined): TargetId[] {
    const words = target === undefined ? undefined : unplacedWords(pod);
    const before = this.#targets.get(key);
    if (before === undefined && words === undefined) return [];
    const concerned = new Set([before, words === undefined ? undefined : target]);
    const told = [...concerned].flatMap((id) => (id === undefined ? [] : [[id, this.why(id)] as const]));
    if (before !== undefined && (before !== target || words === undefined)) this.#forget(key, before);
    if (words !== undefined && target !== undefined) {
      const pods = this.#words.get(target) ?? new Map<string, string>();
      const said = pods.get(key);
      if (said === undefined || alike(said) !== alike(words)) pods.set(key, words);
      this.#words.set(target, pods);
      this.#targets.set(key, target);
    }
    return told.flatMap(([id, was]) => (this.why(id) === was ? [] : [id]));
  }

  /** Of the pod that has been without one for the longest. */
  why(target: TargetId): string | undefined {
    for (const words of this.#words.get(target)?.values() ?? []) return words;
    return undefined;
  }

  #forget(key: string, target: TargetId): void {
    this.#targets.delete(key);
    const pods = this.#words.get(target);
    pods?.delete(key);
    if (pods?.size === 0) this.#words.delete(target);
  }
}
