import { Client } from '../client/client.ts';
import { deferred, type Informer, startInformer } from '../client/informer.ts';
import { askedSince } from '../cluster/heard.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster, ShareView } from '../cluster/types.ts';
import { type Clock, sleep, systemClock } from '../kube/clock.ts';
import type { Transport } from '../kube/http.ts';
import type { Logger } from '../kube/log.ts';
import { assemble, type Own } from './assemble.ts';
import { runBusiness } from './business.ts';
import { eventReflector } from './children.ts';
import { startCleanup } from './cleanup.ts';
import { runDown } from './down.ts';
import { type Engine, indexShares, ruledResources, sharesResource } from './engine.ts';
import { runHeartbeat } from './heartbeat.ts';
import type { Together } from './heartbeats.ts';
import type { Joining } from './joining.ts';
import { type FirstMeeting, letGoUnknown } from './let-go-unknown.ts';
import { Namespaces } from './namespaces.ts';
import { NodeReflector, watchNodes } from './nodes.ts';
import { Outage } from './outage.ts';
import { Questions } from './questions.ts';
import { noteFound } from './resume.ts';
import { SameCluster } from './same-cluster.ts';
import { mostListBytes, Unreadable } from './unreadable.ts';
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
  /** Default: what is upstream was never put back from a backup. */
  firstMeeting?: FirstMeeting;
  /** See HeartbeatOptions. */
  together?: Together;
  /** Gives it its turn among the others that join; default: at once. */
  joining?: Joining;
  /** Of what it does from time to time, to the second; default: the system's. */
  clock?: Clock;
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
  const { name, upstream, physical, signal, clock = systemClock, heartbeatMs = 10_000 } = options;
  const outage = new Outage(name, options.logger);
  const logger = outage.logger();
  const { promise: ready, resolve: becomeReady, reject: fail } = deferred();
  ready.catch(() => {});
  const run = async () => {
    const turn = await options.joining?.turn(signal);
    const same = new SameCluster({ name, upstream, physical: turn?.over(physical) ?? physical, signal });
    outage.onFailure(() => same.doubt());
    const client = new Client(same.transport, { userAgent: 'atoll-syncer', mostListBytes });
    if (turn) ready.then(turn.end, turn.end);
    const questions = new Questions(clock);
    const withReflectors = (all: readonly Hearing[]) => {
      reflectors = all;
    };
    const withQueue = ({ down }: Engine) => {
      hurry = (isBack) => down.hurry(isBack);
    };
    const unreadable = new Unreadable(() => questions.ask(Date.now()));
    outage.onAnswer((isBack) => {
      unreadable.answered(isBack);
      hurry(isBack);
    });
    const nodes = watchNodes(client, { signal, logger, unreadable, clock });
    let namespaces: Namespaces | undefined;
    let reflectors: readonly Hearing[] = [];
    let hurry: (isBack: boolean) => void = () => {};
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
      heardAgain: () => {
        for (const reflector of reflectors) reflector.heardAgain();
      },
      ...(options.whyNotTaken && { whyNotTaken: options.whyNotTaken }),
      ...(options.together && { together: options.together }),
    });
    const uid = await ownUid({ ...options, logger });
    const former = new Set(options.former);
    const own = { client, syncer: uid, former, name, patterns: options.namespaceLabels ?? [] };
    namespaces = new Namespaces({ ...own, signal, logger, unreadable, clock });
    await Promise.all([
      heartbeat,
      work(
        { ...options, logger, clock },
        { client, namespaces, nodes, uid, questions, unreadable, withReflectors, withQueue },
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

/** What was not heard of for a while looks at what the logical clusters hold of it. */
interface Hearing {
  heardAgain(): void;
}

async function work(
  options: SyncerOptions & { clock: Clock },
  own: Own & {
    nodes: Informer;
    questions: Questions;
    withReflectors(all: readonly Hearing[]): void;
    withQueue(engine: Engine): void;
  },
  onReady: () => void,
): Promise<void> {
  const { namespaces, questions, unreadable } = own;
  const { name, upstream, signal, logger, clock, namespaceDelayMs = 10_000 } = options;
  const cleanup = startCleanup(namespaceDelayMs);
  const shares = startInformer<ShareView>(upstream, sharesResource, { signal, logger, clock });
  indexShares(shares);
  const ask = ({ spec }: ShareView) => questions.ask(spec && askedSince(spec.share));
  shares.on({ add: ask, update: ask });
  const { engine, accountTokens, pods, claims, children } = assemble({
    name,
    upstream,
    signal,
    logger,
    cleanup,
    shares,
    ...own,
  });
  own.withQueue(engine);
  let isFound = false;
  // What was there before a backup of the cluster was put back may be there again.
  const search = () => void (isFound && (namespaces.count() ?? 0) > 0 && engine.physical.search());
  own.withReflectors([pods, ...children, { heardAgain: search }]);
  const known = Promise.all([shares.synced, namespaces.informer.synced]);
  const caches = engine.physical.start();
  const met = Promise.all([known, caches]).then(() => letGoUnknown(engine, options.firstMeeting));
  const ready = [
    known.then(() => namespaces.signAll(shares.values(), logger)),
    met,
    shares.synced.then(() => noteFound(engine)),
    shares.synced.then(() => engine.physical.start(ruledResources(shares))),
  ];
  const podsKnown = Promise.race([pods.informer.synced, unreadable.refused(pods.informer.resource)]);
  const all = Promise.all([...ready, podsKnown]).then(() => {
    isFound = true;
    onReady();
  });
  const others = [...children, claims, eventReflector(engine)];
  await Promise.all([
    all,
    runBusiness(engine, [pods.reflector, ...others], Promise.all(ready)),
    runDown(engine, [...ready, podsKnown]),
    runUp(engine, ready),
    accountTokens.run(ready),
    pods.run(ready),
    new NodeReflector(engine, own.nodes, pods.informer).run(ready),
    ...others.map((reflector) => reflector.run(ready)),
    cleanup.run(engine, ready),
  ]);
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
