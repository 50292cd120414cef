import { ForwardAgent } from '../forward/agent.ts';
import type { Forwards } from '../forward/forwards.ts';
import { Idle } from '../forward/idle.ts';
import type { PodPort } from '../forward/target.ts';
import type { ReadyPod } from '../webhook/resolve.ts';

/** Of a Service's pods so many are tried for one request. */
const mostTried = 3;
/** A pod that could not be reached is asked after the others for so long. */
const shunMs = 30_000;
const mostShunned = 1_000;

/** One way to ask: by which agent, at which pod. */
export interface Way {
  agent: ForwardAgent;
  target: PodPort;
  /** A connection of before may be used: where it was closed meanwhile the next way is gone. */
  kept: boolean;
}

/** In which order the pods of API servers are asked, and by which connections. */
export class PodWays {
  /** Connections of reads are kept, which may be asked again; what writes or lasts has one of its own. */
  readonly #kept: ForwardAgent;
  readonly #fresh: ForwardAgent;
  readonly #shunned = new Map<string, number>();

  constructor(forwards: Forwards, idle = new Idle()) {
    this.#kept = new ForwardAgent(forwards, { keep: idle });
    this.#fresh = new ForwardAgent(forwards);
  }

  /** Any pod first, but for those that could not be reached a moment ago. */
  to(cluster: string, namespace: string, pods: readonly ReadyPod[], mayKeep: boolean): Way[] {
    const begin = Math.floor(Math.random() * pods.length);
    const turned = [...pods.slice(begin), ...pods.slice(0, begin)];
    const targets = turned.map((pod) => ({ cluster, namespace, ...pod }));
    const good = targets.filter((target) => !this.#isShunned(target));
    const last = targets.filter((target) => this.#isShunned(target));
    const ways = [...good, ...last]
      .slice(0, mostTried)
      .map((target) => ({ agent: this.#fresh, target, kept: false }));
    const [first] = ways;
    return mayKeep && first ? [{ ...first, agent: this.#kept, kept: true }, ...ways] : ways;
  }

  shun(target: PodPort): void {
    const key = keyOf(target);
    this.#shunned.delete(key);
    this.#shunned.set(key, performance.now() + shunMs);
    const [oldest] = this.#shunned.keys();
    if (this.#shunned.size > mostShunned && oldest !== undefined) this.#shunned.delete(oldest);
  }

  close(): void {
    this.#kept.destroy();
    this.#fresh.destroy();
  }

  #isShunned(target: PodPort): boolean {
    return (this.#shunned.get(keyOf(target)) ?? 0) > performance.now();
  }
}

function keyOf({ cluster, uid, port }: PodPort): string {
  return `${cluster}/${uid}:${port}`;
}
