import { setMaxListeners } from 'node:events';
import type { Client } from '../client/client.ts';
import { faced, IndexUsers } from '../client/faced.ts';
import { type StartedInformer, startInformer } from '../client/informer.ts';
import type { ResourceRef } from '../client/url.ts';
import { askedSince } from '../cluster/heard.ts';
import type { ShareView } from '../cluster/types.ts';
import { noRush, type Turns } from '../controller/rush.ts';
import type { Clock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { assemble, type Own } from './assemble.ts';
import { runBusiness } from './business.ts';
import { startCleanup } from './cleanup.ts';
import { runDown } from './down.ts';
import { joinsEmpty, over } from './empty.ts';
import { type Engine, indexShares, ruledResources, sharesResource } from './engine.ts';
import { eventReflector } from './events.ts';
import { type FirstMeeting, letGoUnknown } from './let-go-unknown.ts';
import { Namespaces } from './namespaces.ts';
import { NodeReflector } from './nodes.ts';
import type { Questions } from './questions.ts';
import { type Home, somethingComes } from './rest.ts';
import { noteFound } from './resume.ts';
import { runUp } from './up.ts';

export interface WorkOptions {
  /** The PhysicalCluster's. */
  name: string;
  /** With prefix /syncers/<name>. */
  upstream: Client;
  /** The one lifetime of all it does; nothing is deleted when it ends. */
  signal: AbortSignal;
  logger: Logger;
  /** The PhysicalCluster's spec.adopt. */
  former?: readonly string[];
  /** The PhysicalCluster's spec.namespaceLabels. */
  namespaceLabels?: readonly string[];
  /** Default: what is upstream was never put back from a backup. */
  firstMeeting?: FirstMeeting;
  /** How long a namespace of ours stays after its last object; default 10 000. */
  namespaceDelayMs?: number;
  /** How long what is of no use any more is still watched; default 60 000. */
  restMs?: number;
  /** Default: none. */
  rush?: Turns;
  clock: Clock;
}

/** What goes on whether there is work or not. */
interface Lasting extends Omit<Own, 'namespaces'> {
  nodes: StartedInformer;
  questions: Questions;
  atWork: AtWork;
  home: Home;
}

/** What was not heard of for a while looks at what the logical clusters hold of it. */
interface Hearing {
  heardAgain(): void;
}

/** Who works for the cluster now: nobody, where it has nothing of ours. */
export class AtWork {
  #reflectors: readonly Hearing[] = [];
  #engine: Pick<Engine, 'down' | 'namespaces'> | undefined;
  #hasEnded = false;
  #rests = false;
  readonly #woken: () => void;

  /** @param woken something has come. */
  constructor(woken: () => void) {
    this.#woken = woken;
  }

  /** Before anything begins. */
  wake(): void {
    this.#rests = false;
    this.#woken();
  }

  begin(engine: Pick<Engine, 'down' | 'namespaces'>, reflectors: readonly Hearing[]): void {
    this.#engine = engine;
    this.#reflectors = reflectors;
  }

  end(): void {
    this.#engine = undefined;
    this.#reflectors = [];
    this.#hasEnded = true;
    this.#rests = true;
  }

  /** It is known that nothing of ours is there. */
  get rests(): boolean {
    return this.#rests;
  }

  /** How many of ours are there; undefined while that is not known. */
  namespaces(): number | undefined {
    return this.#engine ? this.#engine.namespaces.count() : this.#hasEnded ? 0 : undefined;
  }

  heardAgain(): void {
    for (const reflector of this.#reflectors) reflector.heardAgain();
  }

  hurry(isBack: boolean): void {
    this.#engine?.down.hurry(isBack);
  }
}

/**
 * Carries shares down, and what is there up. All that this takes, a dozen queues and caches and the watch of our namespaces, is there while
 * the cluster has a share or a namespace with our label, or something of it is shown. Then it ends, until one of the former comes, and begins
 * as that of a syncer that starts. `onReady`: of the first time.
 */
export async function workWhileThereIsSome(
  options: WorkOptions,
  own: Lasting,
  onReady: () => void,
): Promise<void> {
  const { upstream, signal, logger, clock } = options;
  const shares = startInformer<ShareView>(upstream, sharesResource, { signal, logger, clock });
  const ask = ({ spec }: ShareView) => own.questions.ask(spec && askedSince(spec.share));
  shares.on({ add: ask, update: ask });
  const joining = { ...options, ...own, shares };
  let isWoken = await joinsEmpty(joining);
  if (isWoken) {
    own.atWork.end();
    onReady();
    await somethingComes(joining);
  }
  for (; !signal.aborted; isWoken = true) {
    if (isWoken) own.atWork.wake();
    const life = new AbortController();
    setMaxListeners(0, life.signal);
    const end = () => life.abort(signal.aborted ? signal.reason : over);
    signal.addEventListener('abort', end, { once: true });
    try {
      await work({ ...options, signal: life.signal }, { ...own, shares, isWoken }, onReady, end);
    } catch (error) {
      if (!life.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', end);
      end();
      own.atWork.end();
    }
    await somethingComes(joining);
  }
}

/** Until there is nothing to do any more: `end` is called, which aborts the signal. */
async function work(
  options: WorkOptions,
  own: Lasting & { shares: StartedInformer<ShareView>; isWoken: boolean },
  onReady: () => void,
  end: () => void,
): Promise<void> {
  const { client, uid, unreadable, atWork, isWoken } = own;
  const { name, upstream, signal, logger, clock, namespaceDelayMs = 10_000, restMs = 60_000 } = options;
  const viewer = { signal, indexes: new IndexUsers(), reached: async () => undefined };
  const shares = faced(own.shares, viewer);
  const cleanup = startCleanup(namespaceDelayMs);
  indexShares(shares);
  const [former, patterns] = [new Set(options.former), options.namespaceLabels ?? []];
  const home = { client, syncer: uid, former, name, patterns };
  const namespaces = new Namespaces({ ...home, signal, logger, unreadable, clock });
  const { rush = noRush } = options;
  const parts = {
    client,
    namespaces,
    uid,
    unreadable,
    name,
    upstream,
    shares,
    cleanup,
    rush,
    signal,
    logger,
  };
  const { engine, accountTokens, pods, claims, children } = assemble(parts);
  let isFound = false;
  // What was there before a backup of the cluster was put back may be there again.
  const search = () => void (isFound && (namespaces.count() ?? 0) > 0 && engine.physical.search());
  atWork.begin(engine, [pods, ...children, { heardAgain: search }]);
  const known = Promise.all([shares.synced, namespaces.informer.synced]);
  // Nothing was there until now, and nothing that is ours is outside our namespaces.
  const find = async (kinds?: readonly ResourceRef[]) => {
    if (isWoken) await namespaces.informer.synced;
    if (!isWoken || namespaces.informer.size > 0) await engine.physical.start(kinds);
  };
  const caches = find();
  const met = Promise.all([known, caches]).then(() => letGoUnknown(engine, options.firstMeeting));
  const ready = [
    known.then(() => namespaces.signAll(shares.values(), logger)),
    met,
    shares.synced.then(() => noteFound(engine)),
    shares.synced.then(() => find(ruledResources(shares))),
  ];
  const podsKnown = Promise.race([pods.informer.synced, unreadable.refused(pods.informer.resource, signal)]);
  const all = Promise.all([...ready, podsKnown]).then(() => {
    isFound = true;
    onReady();
  });
  const others = [...children, claims, eventReflector(engine, [pods.reflector, ...children, claims])];
  const nodes = new NodeReflector(engine, faced(own.nodes, viewer), pods.informer);
  const isIdle = () => engine.down.idle && engine.up.idle && nodes.isIdle;
  const course = { isWoken, isIdle, restMs };
  await Promise.all([
    all,
    runBusiness(engine, [pods.reflector, ...others], Promise.all(ready), course).then(end),
    runDown(engine, [...ready, podsKnown]),
    runUp(engine, ready),
    accountTokens.run(ready),
    pods.run(ready),
    nodes.run(ready),
    ...others.map((reflector) => reflector.run(ready)),
    cleanup.run(engine, ready),
  ]);
}
