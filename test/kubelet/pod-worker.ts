import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../kube/object.ts';
import type { Random } from '../fault/random.ts';
import { loopbackOf } from './address.ts';
import { type Container, startContainer } from './container.ts';
import { graceOf, isReadyIn, portsOf } from './lifecycle.ts';
import type { Writer } from './writer.ts';

export interface PodWorkerOptions {
  pod: KubeObject;
  podIP: string;
  /** What it answers to whoever asks. */
  whoami: object;
  random: Random;
  writer: Writer;
  /** What runs in it, once it answers; absent: an HTTP server at each of its ports. */
  run?: ((pod: KubeObject) => Promise<Container>) | undefined;
  tell(what: string): void;
}

/** One pod from its start to its removal. */
export class PodWorker {
  isReady = false;
  isStopping = false;
  readonly #options: PodWorkerOptions;
  readonly #life = new AbortController();
  #container: Container | undefined;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
  }

  /** Ready 1 to 6 s from now, unless it is told to end before; rejects with AbortError then. */
  async start(): Promise<void> {
    const { pod, podIP, whoami, random, writer, tell, run } = this.#options;
    const { signal } = this.#life;
    const [first, second] = [random.between(500, 3000), random.between(500, 3000)];
    await writer.report(pod, 'creating', podIP);
    await sleep(first, undefined, { signal });
    const answer = JSON.stringify(whoami);
    const whoamiServers = () =>
      startContainer(loopbackOf(podIP), portsOf(pod), (_request, response) => {
        setTimeout(() => response.end(answer), random.between(0, 100));
      });
    this.#container = await (run?.(pod) ?? whoamiServers());
    if (signal.aborted) return this.#container.kill();
    await writer.report(pod, 'running', podIP);
    await sleep(second, undefined, { signal });
    await writer.report(pod, 'ready', podIP);
    if (signal.aborted) return;
    this.isReady = true;
    tell('ready');
  }

  /** Says anew that it is ready where somebody else has said otherwise, as a node's controller does of a node unheard of. */
  async reconcile(pod: KubeObject): Promise<void> {
    if (!this.isReady || isReadyIn(pod)) return;
    const { podIP, writer, tell } = this.#options;
    tell('ready again');
    await writer.report(pod, 'ready', podIP);
  }

  /** SIGTERM; resolves when it has ended and is removed. */
  async stop(deleted: KubeObject): Promise<void> {
    const { pod, podIP, writer, tell } = this.#options;
    tell('SIGTERM');
    this.isStopping = true;
    this.isReady = false;
    this.#life.abort();
    const ended = this.#container?.terminate(graceOf(deleted) * 1000);
    await writer.report(pod, 'ending', podIP);
    await ended;
    await writer.remove(pod);
    tell('removed');
  }

  kill(): void {
    this.#life.abort();
    this.#container?.kill();
  }
}
