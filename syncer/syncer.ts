import { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import type { ResourceRef } from '../client/url.ts';
import { askedSince } from '../cluster/heard.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster, ShareView } from '../cluster/types.ts';
import { WorkQueue } from '../controller/queue.ts';
import { sleep } from '../kube/clock.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Transport } from '../kube/http.ts';
import type { Logger } from '../kube/log.ts';
import { childReflectors, eventReflector } from './children.ts';
import { claimReflector } from './claims.ts';
import { startCleanup } from './cleanup.ts';
import { physicalChanged, runDown } from './down.ts';
import { type Engine, indexShares, sharesResource } from './engine.ts';
import { Questions, runHeartbeat } from './heartbeat.ts';
import { Namespaces } from './namespaces.ts';
import { NodeReflector, watchNodes } from './nodes.ts';
import { Outage } from './outage.ts';
import { Owners } from './owners.ts';
import { Physical } from './physical.ts';
import { PodReflector } from './pods.ts';
import { targetOf } from './target.ts';
import { Unreadable } from './unreadable.ts';
import { runUp } from './up.ts';

export interface SyncerOptions {
  /** The PhysicalCluster's. */
  name: string;
  /** With prefix /syncers/<name>. */
  upstream: Client;
  /** To the physical cluster's API. */
  physical: Transport;
  /** The one lifetime of all it does; nothing is deleted when it ends. */
  signal: AbortSignal;
  logger: Logger;
  /** The PhysicalCluster's spec.adopt. */
  former?: readonly string[];
  /** The PhysicalCluster's spec.namespaceLabels. */
  namespaceLabels?: readonly string[];
  /** Default 10 000. */
  heartbeatMs?: number;
  /** Why the cluster of this uid may not be taken under this name, as a sentence; default: it may. */
  whyNotTaken?(clusterUID: string): Promise<string | undefined>;
  /** How long a namespace of ours stays after its last object; default 10 000. */
  namespaceDelayMs?: number;
}

export interface Syncer {
  /** Both sides were read, and work goes on. Rejects if the signal aborts before. */
  readonly ready: Promise<void>;
  /** Everything has ended, after the signal aborted. */
  readonly stopped: Promise<void>;
}

/** Carries one cluster's shares down, and statuses and pods up, until `signal` aborts. */
export function startSyncer(options: SyncerOptions): Syncer {
  const { name, upstream, physical, signal, heartbeatMs = 10_000 } = options;
  const outage = new Outage(name, options.logger);
  const logger = outage.logger();
  const client = new Client(physical, { userAgent: 'atoll-syncer' });
  let becomeReady: () => void = () => {};
  let fail: (why: unknown) => void = () => {};
  const ready = new Promise<void>((resolve, reject) => {
    becomeReady = resolve;
    fail = reject;
  });
  ready.catch(() => {});
  const run = async () => {
    const questions = new Questions();
    const withPods = (reflector: PodReflector) => {
      pods = reflector;
    };
    const unreadable = new Unreadable(() => questions.ask(Date.now()));
    const nodes = watchNodes(client, { signal, logger, unreadable });
    let namespaces: Namespaces | undefined;
    let pods: PodReflector | undefined;
    const heartbeat = runHeartbeat({
      name,
      upstream,
      client,
      signal,
      logger,
      outage,
      questions,
      unreadable,
      nodes,
      intervalMs: heartbeatMs,
      namespaces: () => namespaces?.count(),
      heardAgain: () => pods?.heardAgain(),
      ...(options.whyNotTaken && { whyNotTaken: options.whyNotTaken }),
    });
    const uid = await ownUid({ ...options, logger });
    const former = new Set(options.former);
    const patterns = options.namespaceLabels ?? [];
    namespaces = new Namespaces({ client, syncer: uid, former, name, patterns, signal, logger, unreadable });
    await Promise.all([
      heartbeat,
      work(
        { ...options, logger },
        { client, namespaces, nodes, uid, questions, unreadable, withPods },
        becomeReady,
      ),
    ]);
  };
  const stopped = run().catch((err: unknown) => {
    fail(err);
    if (!signal.aborted) logger.error({ err }, 'syncer ended');
  });
  return { ready, stopped };
}

async function work(
  options: SyncerOptions,
  own: {
    client: Client;
    namespaces: Namespaces;
    nodes: Informer;
    uid: string;
    questions: Questions;
    unreadable: Unreadable;
    withPods(pods: PodReflector): void;
  },
  onReady: () => void,
): Promise<void> {
  const { client, namespaces, uid, questions, unreadable } = own;
  const { name, upstream, signal, logger, namespaceDelayMs = 10_000 } = options;
  const cleanup = startCleanup(namespaceDelayMs);
  const shares = startInformer<ShareView>(upstream, sharesResource, { signal, logger });
  indexShares(shares);
  const ask = ({ spec }: ShareView) => questions.ask(spec && askedSince(spec.share));
  shares.on({ add: ask, update: ask });
  let pods: PodReflector | undefined;
  const engine: Engine = {
    name,
    uid,
    former: namespaces.former,
    startedAt: Date.now(),
    upstream,
    client,
    shares,
    namespaces,
    unreadable,
    physical: new Physical({
      client,
      signal,
      logger,
      unreadable,
      changed: (id) => physicalChanged(engine, id),
      readable: (kind) => wakeKind(engine, kind),
    }),
    records: new Map(),
    down: new WorkQueue({ maxDelayMs: 30_000 }),
    up: new WorkQueue({ maxDelayMs: 30_000 }),
    hasPods: (id) => pods?.hasPods(id) ?? false,
    runningPods: (id, namespace) => pods?.running(id, namespace),
    ownerOf: (object) => owners.ownerOf(object),
    shownUid: (key, podUid) => pods?.shownUid(key, podUid),
    namespaceMayBeEmpty: (namespace) => cleanup.add(namespace),
    signal,
    logger,
  };
  const owners = new Owners({ client, physical: engine.physical, syncer: uid, signal });
  const children = childReflectors(engine, owners);
  pods = new PodReflector(engine, owners, children);
  own.withPods(pods);
  const known = Promise.all([shares.synced, namespaces.informer.synced]);
  const ready = [known.then(() => namespaces.signAll(shares.values(), logger)), engine.physical.start()];
  const podsKnown = Promise.race([pods.informer.synced, unreadable.refused(pods.informer.resource)]);
  const all = Promise.all([...ready, podsKnown]).then(onReady);
  await Promise.all([
    all,
    runDown(engine, [...ready, podsKnown]),
    runUp(engine, ready),
    pods.run(ready),
    new NodeReflector(engine, own.nodes, pods.informer).run(ready),
    ...[...children.values(), claimReflector(engine), eventReflector(engine)].map((reflector) =>
      reflector.run(ready),
    ),
    cleanup.run(engine, ready),
  ]);
}

function wakeKind({ shares, down }: Engine, kind: ResourceRef): void {
  for (const share of shares.values()) {
    const { ref } = share.spec ?? {};
    if (ref && groupResource(ref) === groupResource(kind)) down.add(targetOf(share));
  }
}

/** A cluster registered anew has another uid, and owns nothing of its former self. */
async function ownUid({ name, upstream, signal, logger }: SyncerOptions): Promise<string> {
  for (;;) {
    try {
      const cluster = await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal);
      if (cluster.metadata.uid) return cluster.metadata.uid;
    } catch (err) {
      signal.throwIfAborted();
      logger.warn({ err }, 'the syncer cannot read its own PhysicalCluster');
    }
    await sleep(1_000, signal);
  }
}
