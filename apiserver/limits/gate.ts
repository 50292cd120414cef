import type { ClusterUse } from '../../cluster/limits.ts';
import type { UserInfo } from '../../kube/http.ts';
import { andThen, isLater, type Later } from '../../kube/later.ts';
import { StatusError } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import { mastersGroup } from '../authz/masters.ts';
import type { RequestInfo } from '../request.ts';
import type { Amounts } from './decide.ts';
import type { Answer, Question } from './questions.ts';
import type { Tree } from './tree.ts';

/** Asked ahead by a process that has to ask another: what so long a time brings. */
const aheadSeconds = 0.05;

/** What this process was given ahead of a logical cluster's requests. */
interface Given {
  tokens: number;
  asking: Promise<Answer> | undefined;
  /** Refused until then, in ms. */
  until: number;
  refusal: Answer;
}

export interface GateOptions {
  tree: Tree;
  /** Of the Ledger, which may be in another process. */
  ask(question: Question): Later<Answer>;
  /** True where each question costs a way to another process. */
  apart?: boolean;
}

/** The rung at which a logical cluster's share ends: 429. Costs one look into an empty map where nothing is bounded. */
export class Gate {
  readonly tree: Tree;
  readonly #ask: (question: Question) => Later<Answer>;
  readonly #apart: boolean;
  readonly #given = new Map<string, Given>();

  constructor({ tree, ask, apart = false }: GateOptions) {
    this.tree = tree;
    this.#ask = ask;
    this.#apart = apart;
  }

  /** Undefined: it may go on; a function: it may, and that is called when the watch has ended. Throws StatusError 429. */
  admit({ cluster, verb }: RequestInfo, user: UserInfo): Later<(() => void) | undefined> {
    const chain = this.tree.chain(cluster);
    if (chain.length === 0 || isOwnController(user) || user.groups.includes(mastersGroup)) return undefined;
    const watch = () =>
      verb === 'watch' && chain.some(({ bounds }) => bounds.watches !== undefined)
        ? this.#watch(cluster)
        : undefined;
    if (chain.every(({ bounds }) => bounds.requestsPerSecond === undefined)) return watch();
    return andThen(this.#request(cluster), watch);
  }

  /** For what is only tried. Rejects with the refusal's words. */
  async room(cluster: string, more: Amounts): Promise<string | undefined> {
    if (this.tree.chain(cluster).length === 0) return undefined;
    return (await this.#ask({ ask: 'room', cluster, more })).refused;
  }

  async use(clusters: string[]): Promise<readonly ClusterUse[]> {
    return (await this.#ask({ ask: 'use', clusters })).use ?? [];
  }

  #watch(cluster: string): Later<() => void> {
    return andThen(this.#ask({ ask: 'watch', cluster }), (answer) => {
      const { ticket } = answer;
      if (ticket === undefined) throw tooMany(answer);
      return () => this.#unwatch(ticket);
    });
  }

  /** Who cannot be told has ended, and its watches with it. */
  #unwatch(ticket: number): void {
    const told = this.#ask({ ask: 'unwatch', ticket });
    if (isLater(told)) told.catch(() => undefined);
  }

  #request(cluster: string): Later<void> {
    if (!this.#apart) {
      return andThen(this.#ask({ ask: 'requests', cluster, count: 1 }), (answer) => {
        if (!answer.granted) throw tooMany(answer);
      });
    }
    const given = this.#givenOf(cluster);
    if (given.tokens < 1) return this.#more(cluster, given);
    given.tokens--;
  }

  /** Many may wait for one answer, which may not be enough for all of them. */
  async #more(cluster: string, given: Given): Promise<void> {
    while (given.tokens < 1) {
      if (performance.now() < given.until) throw tooMany(given.refusal);
      given.asking ??= this.#fetch(cluster, given);
      await given.asking;
    }
    given.tokens--;
  }

  async #fetch(cluster: string, given: Given): Promise<Answer> {
    try {
      const rates = this.tree.chain(cluster).map(({ bounds }) => bounds.requestsPerSecond ?? Infinity);
      const count = Math.max(1, Math.min(1000, Math.floor(Math.min(...rates) * aheadSeconds)));
      const answer = await this.#ask({ ask: 'requests', cluster, count });
      given.tokens += answer.granted ?? 0;
      // Who was refused is refused here for a moment: a flood does not reach the other process.
      if (!answer.granted) given.until = performance.now() + 1000 * aheadSeconds;
      given.refusal = answer;
      return answer;
    } finally {
      given.asking = undefined;
    }
  }

  #givenOf(cluster: string): Given {
    let given = this.#given.get(cluster);
    if (given === undefined) {
      if (this.#given.size >= 10_000) this.#given.clear();
      given = { tokens: 0, asking: undefined, until: 0, refusal: {} };
      this.#given.set(cluster, given);
    }
    return given;
  }
}

function tooMany({
  refused = 'exceeded limits of the logical cluster',
  retryAfter = 1,
}: Answer): StatusError {
  return new StatusError(429, 'TooManyRequests', refused, { retryAfterSeconds: retryAfter });
}
