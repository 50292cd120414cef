import type { Clock } from '../../kube/clock.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Evaluator } from '../../kube/quota/evaluator.ts';
import { increase, type ResourceList, sameList } from '../../kube/quota/list.ts';
import { uncountedFrom } from '../../kube/quota/pod.ts';
import { scopesOf } from '../../kube/quota/scope.ts';

const nothing: ResourceList = new Map();

/** What objects use, worked out once for each version of one. */
export class Usages {
  readonly #clock: Clock;
  readonly #known = new WeakMap<KubeObject, ResourceList>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(evaluator: Evaluator, object: KubeObject): ResourceList {
    const known = this.#known.get(object);
    if (known) return known;
    const usage = evaluator.usage(object, this.#clock.now());
    // That of one that ends depends on the time.
    if (uncountedFrom(object) === undefined) this.#known.set(object, usage);
    return usage;
  }

  /** The object came or went, or (from `old`) became one that counts otherwise. */
  matters(quota: KubeObject, evaluator: Evaluator, object: KubeObject, old?: KubeObject): boolean {
    const names = Object.keys((quota.spec as { hard?: object } | undefined)?.hard ?? {});
    if (!names.some((name) => evaluator.counts(name))) return false;
    if (!old || uncountedFrom(object) !== uncountedFrom(old)) return true;
    return !sameList(this.#counted(quota, evaluator, object), this.#counted(quota, evaluator, old));
  }

  /** What more of it the quota has to count. */
  added(quota: KubeObject, evaluator: Evaluator, object: KubeObject, old?: KubeObject): ResourceList {
    const before = old ? this.#counted(quota, evaluator, old) : nothing;
    return increase(this.#counted(quota, evaluator, object), before);
  }

  #counted(quota: KubeObject, evaluator: Evaluator, object: KubeObject): ResourceList {
    const isCounted = scopesOf(quota).every((scope) => evaluator.matches(scope, object));
    return isCounted ? this.of(evaluator, object) : nothing;
  }
}
