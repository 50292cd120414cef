import type { ClusterUse } from '../../cluster/limits.ts';
import { isLater, type Later } from '../../kube/later.ts';
import { type Store, StoreError } from '../../storage/store.ts';
import { Counts } from './counts.ts';
import { Flows } from './flows.ts';
import { Holds } from './holds.ts';
import type { Answer, Question } from './questions.ts';
import { boundedStore } from './store.ts';
import type { Tree } from './tree.ts';

/**
 * What all processes of a server use of what logical clusters may: one for all of them, in the process that has the store.
 * Several servers on one store know of each other what is stored, a moment later; requests and watches each counts itself.
 */
export class Ledger {
  readonly #tree: Tree;
  readonly #counts: Counts;
  readonly #holds: Holds;
  readonly #flows: Flows;
  /** As the one that was given; what users write through it stays within the limits. */
  readonly store: Store;

  constructor(store: Store, tree: Tree, signal: AbortSignal, now?: () => number) {
    this.#tree = tree;
    this.#counts = new Counts(store, tree, signal);
    this.#holds = new Holds(this.#counts);
    this.#flows = new Flows(tree, now);
    this.store = boundedStore(store, tree, this.#holds);
  }

  /** `asker`: the process, which is to be told of with `leave` when it has ended. */
  answer(question: Question, asker: object): Later<Answer> {
    switch (question.ask) {
      case 'requests':
        return this.#flows.requests(question.cluster, question.count);
      case 'watch':
        return this.#flows.watch(question.cluster, asker);
      case 'unwatch':
        this.#flows.unwatch(question.ticket);
        return {};
      case 'room':
        return this.#room(question);
      case 'use': {
        const counting = this.#counts.ready();
        return isLater(counting)
          ? counting.then(() => this.#use(question.clusters))
          : this.#use(question.clusters);
      }
    }
  }

  leave(asker: object): void {
    this.#flows.leave(asker);
  }

  async #room({ cluster, more }: Extract<Question, { ask: 'room' }>): Promise<Answer> {
    const chain = this.#tree.chain(cluster);
    if (chain.length === 0) return {};
    try {
      this.#holds.settle(await this.#holds.take(chain, more));
      return {};
    } catch (error) {
      if (error instanceof StoreError && error.code === 'limited') return { refused: error.message };
      throw error;
    }
  }

  #use(clusters: readonly string[]): Answer {
    return { use: clusters.map((id) => this.#useOf(id)) };
  }

  #useOf(id: string): ClusterUse {
    const { bounds } = this.#tree.one(id);
    const { objects, bytes, customResourceDefinitions, webhooks } = this.#counts.of(id);
    const flows = this.#flows.use(id, bounds);
    return {
      hard: bounds,
      used: { objects, bytes, customResourceDefinitions, webhooks, ...flows },
    };
  }
}
