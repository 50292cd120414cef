import type { Client } from '../client/client.ts';
import { type Informer, type StartedInformer, startInformer } from '../client/informer.ts';
import { keyOf, logicalClusterOf } from '../client/url.ts';
import { rootCluster } from '../cluster/names.ts';
import { reflectedNodes, shownNode } from '../cluster/nodes.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { type Clock, sleep } from '../kube/clock.ts';
import { deepEqual } from '../kube/deep.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { textAt } from '../kube/untyped.ts';
import type { Engine } from './engine.ts';
import { digest } from './records.ts';
import type { Unreadable } from './unreadable.ts';

/** A node whose name another cluster's has, or a user's, may be free to be shown later. */
const clashMs = 30_000;
/** The next pod of a rollout may come to the node that one has just left. */
const lingerMs = 3_000;
const rereadMs = 10_000;

/** One cache for what they offer together and for what is shown of each. */
export function watchNodes(
  client: Client,
  options: { signal: AbortSignal; logger: Logger; unreadable: Unreadable; clock: Clock },
): StartedInformer {
  const { unreadable, ...informer } = options;
  return startInformer(client, reflectedNodes, {
    ...informer,
    transform: shownNode,
    onOutcome: unreadable.reading(reflectedNodes).onOutcome,
  });
}

/** Shows in each logical cluster the nodes on which its pods run, and no longer than that. Keys: `<logical>/<node>`. */
export class NodeReflector {
  readonly #engine: Engine;
  readonly #nodes: Informer;
  readonly #pods: Informer;
  readonly #queue = new WorkQueue({ maxDelayMs: 60_000 });
  /** Where a pod was counted, by its key; and the other way round. */
  readonly #counted = new Map<string, string>();
  readonly #onNode = new Map<string, Set<string>>();
  readonly #emptySince = new Map<string, number>();
  /** The digest of what is shown; empty: of before this syncer began. */
  readonly #shown = new Map<string, string>();
  /** What is shown of before is known. */
  #hasRead = false;

  /** `pods`: with the index `namespace`. */
  constructor(engine: Engine, nodes: Informer, pods: Informer) {
    this.#engine = engine;
    this.#nodes = nodes;
    this.#pods = pods;
    const look = (pod: KubeObject) => this.#count(pod, this.#keyOf(pod));
    pods.on({ add: look, update: look, delete: (pod) => this.#count(pod, undefined) });
    // Pods may be heard of before their namespace.
    engine.namespaces.informer.on({ add: ({ metadata }) => this.#lookInto(metadata.name ?? '') });
    const told = ({ metadata: { name = '' } }: KubeObject) => {
      for (const key of [...this.#onNode.keys(), ...this.#shown.keys()])
        if (key.endsWith(`/${name}`)) this.#queue.add(key);
    };
    nodes.on({ add: told, update: (now, old) => isSame(now, old) || told(now), delete: told });
  }

  async run(ready: readonly Promise<unknown>[]): Promise<void> {
    const { name, signal, logger } = this.#engine;
    const known = Promise.all([...ready, this.#pods.synced, this.#nodes.synced]);
    await runController({
      name: `syncer-nodes-${name}`,
      queue: this.#queue,
      reconcile: (key) => this.#reconcile(key),
      signal,
      logger,
      ready: [known.then(() => this.#readShown())],
    });
  }

  /** None is shown, nor about to be. */
  get isIdle(): boolean {
    return this.#hasRead && this.#shown.size === 0 && this.#queue.idle;
  }

  /** Undefined while it is bound to no node, and of what is not ours. */
  #keyOf({ metadata, spec }: KubeObject): string | undefined {
    const node = textAt(spec, 'nodeName');
    const logical = this.#engine.namespaces.own(metadata.namespace ?? '')?.locator.cluster;
    return node && logical && `${logical}/${node}`;
  }

  #count({ metadata: { namespace = '', name = '' } }: KubeObject, key: string | undefined): void {
    const pod = `${namespace}/${name}`;
    const before = this.#counted.get(pod);
    if (before === key) return;
    if (before !== undefined) {
      const others = this.#onNode.get(before);
      others?.delete(pod);
      if (others?.size === 0) this.#onNode.delete(before);
      this.#counted.delete(pod);
      this.#queue.add(before);
    }
    if (key === undefined) return;
    this.#counted.set(pod, key);
    this.#onNode.set(key, (this.#onNode.get(key) ?? new Set()).add(pod));
    this.#queue.add(key);
  }

  #lookInto(namespace: string): void {
    for (const pod of this.#pods.byIndex('namespace', namespace)) this.#count(pod, this.#keyOf(pod));
  }

  /** From before a restart too: what has no pod any more goes. */
  async #readShown(): Promise<void> {
    const { upstream, signal, namespaces, logger } = this.#engine;
    await namespaces.informer.synced;
    try {
      const { items } = await upstream.list(reflectedNodes, { signal });
      for (const node of items) {
        const key = `${logicalClusterOf(node)}/${node.metadata.name ?? ''}`;
        if (!this.#shown.has(key)) this.#shown.set(key, '');
        this.#queue.add(key);
      }
      this.#hasRead = true;
    } catch (err) {
      if (signal.aborted) throw err;
      logger.warn({ err }, 'cannot list the nodes that are shown');
      void this.#readShownLater();
    }
  }

  async #readShownLater(): Promise<void> {
    const { signal } = this.#engine;
    await sleep(rereadMs, signal);
    if (!signal.aborted) await this.#readShown().catch(() => undefined);
  }

  /** For how long one that is shown, and runs none of the pods any more, is shown still. */
  #lingers(key: string, name: string): number {
    if (!this.#shown.has(key) || !this.#nodes.get(keyOf(rootCluster, '', name))) return 0;
    const since = this.#emptySince.get(key) ?? Date.now();
    this.#emptySince.set(key, since);
    return since + lingerMs - Date.now();
  }

  async #reconcile(key: string): Promise<Retry | undefined> {
    const [cluster = '', name = ''] = key.split('/');
    const node = this.#onNode.has(key) ? this.#nodes.get(keyOf(rootCluster, '', name)) : undefined;
    const { upstream, signal } = this.#engine;
    if (!node) {
      const stays = this.#lingers(key, name);
      if (stays > 0) return { after: stays };
      if (this.#shown.has(key))
        await unlessGone(upstream.delete(reflectedNodes, { cluster, name }, {}, signal));
      this.#shown.delete(key);
      this.#emptySince.delete(key);
      return undefined;
    }
    this.#emptySince.delete(key);
    const body = bodyOf(node);
    const now = digest(body);
    if (this.#shown.get(key) === now) return undefined;
    try {
      await upstream.update(reflectedNodes, body, { cluster, signal });
      this.#shown.set(key, now);
    } catch (error) {
      // Another's has the name, or the last share there is just going.
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'Forbidden')) throw error;
      return { after: clashMs };
    }
    return undefined;
  }
}

const bodies = new WeakMap<KubeObject, KubeObject>();

/** Made once of what a cache has: each pod that comes or goes has its node looked at, and what is digested is so once. */
function bodyOf(node: KubeObject): KubeObject {
  const known = bodies.get(node);
  if (known) return known;
  const { uid: _uid, resourceVersion: _version, ...metadata } = node.metadata;
  const body = { ...node, metadata };
  bodies.set(node, body);
  return body;
}

/** A heartbeat alone. */
function isSame({ metadata: now, ...node }: KubeObject, { metadata: old, ...before }: KubeObject): boolean {
  return (
    deepEqual(node, before) &&
    deepEqual([now.uid, now.labels, now.annotations], [old.uid, old.labels, old.annotations])
  );
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
