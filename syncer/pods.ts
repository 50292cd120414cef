import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { logicalClusterAnnotation, rootCluster } from '../cluster/names.ts';
import { physicalNamespace } from '../cluster/placement.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Engine } from './engine.ts';
import { Owners, type Root } from './owners.ts';
import { readLocator } from './ownership.ts';
import { digest } from './records.ts';
import type { TargetId } from './target.ts';

const resource = { group: '', version: 'v1', resource: 'pods' };
const maxPodBytes = 240 << 10;
const clashMs = 30_000;
const resyncMs = 300_000;
/** What a physical namespace of ours looks like; the locator decides, this only spares memory. */
const ourShape = /-[0-9a-f]{8}$/;

interface Place {
  cluster: string;
  namespace: string;
}

interface Reflected extends Place {
  digest: string;
}

/** Pods of our workloads, reflected into their logical namespaces under their own names. */
export class PodReflector {
  readonly informer: Informer;
  readonly #engine: Engine;
  readonly #owners: Owners;
  readonly #queue = new WorkQueue();
  /** By `<physical namespace>/<name>`. */
  readonly #reflected = new Map<string, Reflected>();
  readonly #roots = new Map<string, Root & { uid: string | undefined }>();
  readonly #byRoot = new Map<TargetId, Set<string>>();

  constructor(engine: Engine) {
    const { client, physical, uid, signal, logger } = engine;
    this.#engine = engine;
    this.#owners = new Owners({ client, physical, syncer: uid, signal });
    this.informer = startInformer(client, resource, { signal, logger, transform: slim });
    const tell = ({ metadata: { namespace = '', name = '' } }: KubeObject) => {
      if (ourShape.test(namespace)) this.#queue.add(`${namespace}/${name}`);
    };
    this.informer.on({ add: tell, update: tell, delete: tell });
  }

  hasPods(id: TargetId): boolean {
    return (this.#byRoot.get(id)?.size ?? 0) > 0;
  }

  async run(ready: readonly Promise<unknown>[]): Promise<void> {
    const { name, signal, logger } = this.#engine;
    const resync = setInterval(() => void this.#readReflected(), resyncMs);
    signal.addEventListener('abort', () => clearInterval(resync), { once: true });
    await runController({
      name: `syncer-pods-${name}`,
      queue: this.#queue,
      workers: 8,
      reconcile: (key) => this.#reconcile(key),
      signal,
      logger,
      ready: [...ready, this.informer.synced, Promise.all(ready).then(() => this.#readReflected())],
    });
  }

  /** What the logical clusters hold of us, from before a restart too: what is not here any more goes. */
  async #readReflected(): Promise<void> {
    const { upstream, signal, logger } = this.#engine;
    try {
      const list = await upstream.list(resource, { signal });
      for (const pod of list.items) {
        const { namespace = '', name = '', annotations } = pod.metadata;
        const cluster = annotations?.[logicalClusterAnnotation] ?? rootCluster;
        const key = `${physicalNamespace(cluster, namespace)}/${name}`;
        if (!this.#reflected.has(key)) this.#reflected.set(key, { cluster, namespace, digest: '' });
        this.#queue.add(key);
      }
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'cannot list the reflected pods');
    }
  }

  async #reconcile(key: string): Promise<Retry | undefined> {
    const [physical = '', name = ''] = key.split('/');
    const pod = this.informer.get(keyOf(rootCluster, physical, name));
    const place = this.#engine.namespaces.own(physical)?.locator;
    // A placed Pod is itself the object that stands upstream.
    const root = pod && place && !readLocator(pod) ? await this.#rootOf(key, pod) : undefined;
    this.#count(key, root, pod?.metadata.uid);
    if (!pod || !root || !place) return await this.#withdraw(key, name);
    const body = reflection(pod, root);
    const now = digest(body);
    if (this.#reflected.get(key)?.digest === now) return undefined;
    return await this.#put(key, name, place, body, now);
  }

  /** A pod may outlive its workload for a moment; it stays that workload's. */
  async #rootOf(key: string, pod: KubeObject): Promise<Root | undefined> {
    const known = this.#roots.get(key);
    if (known && known.uid === pod.metadata.uid) return known;
    return await this.#owners.rootOf(pod);
  }

  async #put(
    key: string,
    name: string,
    place: Place,
    body: KubeObject,
    now: string,
  ): Promise<Retry | undefined> {
    const { upstream, signal, logger } = this.#engine;
    const { cluster, namespace } = place;
    try {
      await upstream.update(
        resource,
        { ...body, metadata: { ...body.metadata, namespace } },
        { cluster, signal },
      );
    } catch (error) {
      // Taken by another cluster's pod or a user's; or the last share there is just going.
      if (
        !isStatusError(error, 'Conflict') &&
        !isStatusError(error, 'Forbidden') &&
        !isStatusError(error, 'NotFound')
      )
        throw error;
      logger.warn({ err: error, cluster, namespace, pod: name }, 'a pod cannot be reflected');
      return { after: clashMs };
    }
    this.#reflected.set(key, { cluster, namespace, digest: now });
    return undefined;
  }

  async #withdraw(key: string, name: string): Promise<undefined> {
    const reflected = this.#reflected.get(key);
    if (!reflected) return undefined;
    const { cluster, namespace } = reflected;
    try {
      await this.#engine.upstream.delete(resource, { cluster, namespace, name }, {}, this.#engine.signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    this.#reflected.delete(key);
    return undefined;
  }

  /** Keeps the count of each workload's pods; the last one's going may let the workload's share go. */
  #count(key: string, root: Root | undefined, uid: string | undefined): void {
    const before = this.#roots.get(key);
    if (before?.target === root?.target && before?.uid === uid) return;
    if (before) {
      const pods = this.#byRoot.get(before.target);
      pods?.delete(key);
      if (pods?.size === 0) {
        this.#byRoot.delete(before.target);
        this.#engine.down.add(before.target);
      }
      this.#roots.delete(key);
    }
    if (!root) return;
    this.#roots.set(key, { target: root.target, reference: root.reference, uid });
    this.#byRoot.set(root.target, (this.#byRoot.get(root.target) ?? new Set()).add(key));
  }
}

/** Foreign pods are kept as names only. */
function slim(pod: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, managedFields: _, ...metadata } = pod.metadata;
  const names = {
    ...(name && { name }),
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
  if (!ourShape.test(namespace ?? '')) return { apiVersion: 'v1', kind: 'Pod', metadata: names };
  return { ...pod, metadata: { ...metadata, ...names } };
}

/** What of a physical pod goes up. One that is too large goes without its spec's bulk. */
function reflection(pod: KubeObject, root: Root): KubeObject {
  const { name, labels, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const metadata = {
    ...(name && { name }),
    ...(labels && { labels }),
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(deletionTimestamp && { deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
    ownerReferences: [root.reference],
  };
  const whole = { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec, status: pod.status };
  if (Buffer.byteLength(encodeJson(whole)) <= maxPodBytes) return whole;
  const { nodeName } = (pod.spec ?? {}) as { nodeName?: unknown };
  const { phase, conditions } = (pod.status ?? {}) as { phase?: unknown; conditions?: unknown };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName, containers: [] },
    status: { phase, conditions },
  };
}
