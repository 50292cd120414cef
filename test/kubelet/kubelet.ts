import { Client } from '../../client/client.ts';
import { startInformer } from '../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';
import { Random } from '../fault/random.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { podAddress } from './address.ts';
import { stepOf } from './lifecycle.ts';
import { PodWorker, type PodWorkerOptions } from './pod-worker.ts';
import { type Writer, writerTo } from './writer.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };

export interface KubeletOptions {
  /** Which pods are its own; kwok leaves those alone (KubernetesOptions.served). */
  labelSelector: string;
  /** Makes its pods' addresses. */
  number: number;
  seed: number;
  run?: PodWorkerOptions['run'];
}

/**
 * The kubelet of chosen pods on whatever node: runs each as `run` does, or as an HTTP server of this process, which tells its pod's
 * and its cluster's name.
 */
export async function startKubelet(of: Kubernetes, options: KubeletOptions): Promise<Kubelet> {
  const client = new Client(await transportFromKubeconfigFile(of.kubeconfig));
  const kubelet = new Kubelet(of.name, writerTo(client), options);
  const { labelSelector } = options;
  const informer = startInformer(client, pods, { labelSelector, signal: kubelet.life.signal });
  informer.on({
    add: (pod) => kubelet.see(uidOf(pod), pod),
    update: (pod) => kubelet.see(uidOf(pod), pod),
    delete: (pod) => kubelet.see(uidOf(pod)),
  });
  await informer.synced;
  return kubelet;
}

/** A pod made anew under its name is another one. */
const uidOf = (pod: KubeObject) => pod.metadata.uid ?? '';

export class Kubelet {
  readonly life = new AbortController();
  /** What it did, for whoever asks why a request failed. */
  readonly history: string[] = [];
  readonly #name: string;
  readonly #writer: Writer;
  readonly #options: KubeletOptions;
  readonly #random: Random;
  readonly #workers = new Map<string, PodWorker>();
  readonly #failures: unknown[] = [];
  #count = 0;

  constructor(name: string, writer: Writer, options: KubeletOptions) {
    this.#name = name;
    this.#writer = writer;
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  /** Pods that answer. */
  get ready(): number {
    return [...this.#workers.values()].filter(({ isReady }) => isReady).length;
  }

  /** Pods that are there at all. */
  get all(): number {
    return this.#workers.size;
  }

  /** What becomes of a pod; undefined: it is there no more. */
  see(uid: string, pod?: KubeObject): void {
    void this.#act(uid, pod).catch((error: unknown) => {
      if ((error as Error).name !== 'AbortError' && !this.life.signal.aborted) this.#failures.push(error);
    });
  }

  /** Fails if it had failed before. */
  stop(): void {
    this.life.abort();
    for (const worker of this.#workers.values()) worker.kill();
    if (this.#failures.length > 0)
      throw new AggregateError(this.#failures, `the kubelet of ${this.#name} failed`);
  }

  async #act(uid: string, pod: KubeObject | undefined): Promise<void> {
    const worker = this.#workers.get(uid);
    const step = stepOf(pod, !worker ? 'none' : worker.isStopping ? 'stopping' : 'running');
    if (step === 'kill') {
      this.#workers.delete(uid);
      worker?.kill();
    }
    if (!pod) return;
    if (step === 'remove') await this.#writer.remove(pod);
    if (step === 'stop') await worker?.stop(pod);
    if (step === 'nothing') await worker?.reconcile(pod);
    if (step === 'start') {
      const made = this.#worker(pod);
      this.#workers.set(uid, made);
      await made.start();
    }
  }

  #worker(pod: KubeObject): PodWorker {
    const podIP = podAddress(this.#options.number, ++this.#count);
    const { name } = pod.metadata;
    return new PodWorker({
      pod,
      podIP,
      whoami: { cluster: this.#name, pod: name },
      random: this.#random,
      writer: this.#writer,
      run: this.#options.run,
      tell: (what) =>
        void this.history.push(`${new Date().toISOString()} ${this.#name} ${what} ${name} ${podIP}`),
    });
  }
}
