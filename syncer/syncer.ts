import { Client } from '../client/client.ts';
import { deferred } from '../client/informer.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { type Clock, sleep, systemClock } from '../kube/clock.ts';
import type { Transport } from '../kube/http.ts';
import { Offered } from './allocatable.ts';
import { runHeartbeat } from './heartbeat.ts';
import type { Together } from './heartbeats.ts';
import type { Joining } from './joining.ts';
import { NodeLabels } from './node-labels.ts';
import { watchNodes } from './nodes.ts';
import { Outage } from './outage.ts';
import { Questions } from './questions.ts';
import { Home } from './rest.ts';
import { SameCluster } from './same-cluster.ts';
import { mostListBytes, Unreadable } from './unreadable.ts';
import { AtWork, type WorkOptions, workWhileThereIsSome } from './work.ts';

export interface SyncerOptions extends Omit<WorkOptions, 'clock'> {
  /** To the physical cluster's API. */
  physical: Transport;
  /** Default 10 000. */
  heartbeatMs?: number;
  /** Why the cluster of this uid may not be taken under this name, as a sentence; default: it may. */
  whyNotTaken?(clusterUID: string): Promise<string | undefined>;
  /** These two: see HeartbeatOptions. */
  whyFormerKubeconfig?(): string | undefined;
  together?: Together;
  /** Gives it its turn among the others that join; default: at once. */
  joining?: Joining;
  /** See SameClusterOptions. */
  wentBack?(): void;
  /** Of what it does from time to time, to the second; default: the system's. */
  clock?: Clock;
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
    const same = new SameCluster({
      name,
      upstream,
      physical: turn?.over(physical) ?? physical,
      signal,
      ...(options.wentBack && { wentBack: options.wentBack }),
    });
    outage.onFailure(() => same.doubt());
    const client = new Client(same.transport, { userAgent: 'atoll-syncer', mostListBytes });
    if (turn) ready.then(turn.end, turn.end);
    const questions = new Questions(clock);
    const unreadable = new Unreadable(() => questions.ask(Date.now()));
    outage.onAnswer((isBack) => {
      unreadable.answered(isBack);
      atWork.hurry(isBack);
    });
    const nodes = watchNodes(client, { signal, logger, unreadable, clock });
    const offered = new Offered(nodes);
    const labels = new NodeLabels(nodes);
    // It may have gone while it was asked seldom.
    const atWork = new AtWork(() => questions.ask(Date.now()));
    const home = new Home(client, unreadable);
    const heartbeat = runHeartbeat({
      name,
      upstream,
      client,
      signal,
      logger,
      outage,
      questions,
      unreadable,
      offers: () => offered.at(Date.now()),
      nodeLabels: () => labels.now(),
      intervalMs: heartbeatMs,
      namespaces: () => atWork.namespaces(),
      rests: () => atWork.rests,
      hasHome: (soon) => home.ask(soon),
      heardAgain: () => atWork.heardAgain(),
      ...(options.whyFormerKubeconfig && { whyFormerKubeconfig: options.whyFormerKubeconfig }),
      ...(options.whyNotTaken && { whyNotTaken: options.whyNotTaken }),
      ...(options.together && { together: options.together }),
    });
    const uid = await ownUid({ ...options, logger });
    await Promise.all([
      heartbeat,
      workWhileThereIsSome(
        { ...options, logger, clock },
        { client, nodes, uid, questions, unreadable, atWork, home },
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
