import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Exchange } from '../core.ts';
import { tooMany } from '../inflight.ts';
import { isLongRunning } from '../request.ts';
import { Deadlines } from '../wire/deadlines.ts';
import { type Configuration, configurationOf, type Flow } from './configuration.ts';
import { Level, type Ticket } from './level.ts';
import { limitsOf, mayHold, roomOf } from './limits.ts';
import { LongSteps, longBytes } from './long-steps.ts';
import { Classifier } from './match.ts';
import type { FairnessObserver, Refusal, Sorted } from './observer.ts';
import { Rounds } from './rounds.ts';
import { seatsOf } from './seats.ts';
import { shareOf } from './share.ts';
import { turnOf } from './turn.ts';

/** The longest that anybody waits, whatever the request's own limit. */
const longestMs = 60_000;

export type Work = (exchange: Exchange) => Promise<ApiResponse>;

/**
 * API Priority and Fairness: who is served when all cannot be at once. The objects of root say how; the seats are this
 * process's part of the server's: docs/decisions/0033.
 */
export class Fairness {
  readonly #total: number;
  readonly #observer: FairnessObserver | undefined;
  readonly #deadlines = new Deadlines();
  readonly #levels = new Map<string, Level>();
  /** Of levels that are no more, until nobody is in them. */
  readonly #leaving = new Set<Level>();
  readonly #waiting = new Set<Level>();
  readonly #rounds = new Rounds();
  readonly #longSteps = new LongSteps();
  #sorted = new WeakMap<Flow, Sorted>();
  #configuration: Configuration = { flows: [], levels: [] };
  #classifier = new Classifier([]);
  #processes = 1;

  /** `total`: the seats of all processes of the server. */
  constructor(total: number, observer?: FairnessObserver) {
    this.#total = total;
    this.#observer = observer;
    this.configure([], []);
  }

  /** The FlowSchemas and PriorityLevelConfigurations that count. */
  configure(schemas: readonly KubeObject[], levels: readonly KubeObject[]): void {
    this.#configuration = configurationOf(schemas, levels);
    this.#classifier = new Classifier(this.#configuration.flows);
    this.#sorted = new WeakMap();
    this.#apply();
  }

  /** So many processes share the seats from now on. */
  among(processes: number): void {
    if (processes === this.#processes) return;
    this.#processes = processes;
    this.#apply();
  }

  #apply(): void {
    const { levels } = this.#configuration;
    const limits = limitsOf(levels, Math.ceil(this.#total / this.#processes));
    const names = new Set(levels.map(({ name }) => name));
    for (const [name, level] of this.#levels) {
      if (names.has(name)) continue;
      this.#levels.delete(name);
      if (level.inUse > 0 || level.queues.length > 0) this.#leaving.add(level);
    }
    for (const [i, spec] of levels.entries()) {
      const own = limits[i] as Level['limits'];
      const known = this.#levels.get(spec.name);
      if (known) known.configure(spec, own);
      else this.#levels.set(spec.name, new Level(spec, own));
    }
    this.#observer?.limited(
      [...this.#levels.values()].map((level) => ({ name: level.spec.name, limits: level.limits })),
    );
    this.#next();
  }

  /** What `work` answers, when its turn has come; else 429. A failure of any kind rejects. */
  run(exchange: Exchange, work: Work, requestMs: number): Promise<ApiResponse> {
    const { user, info } = exchange;
    this.#longSteps.came();
    const flow = this.#classifier.flowOf(user, info);
    const level = this.#levels.get(flow.level) as Level;
    // As kube-apiserver: what is no watch and lasts says nothing of it.
    if (info.verb === 'watch' || !isLongRunning(info))
      exchange.matched = { flow: flow.uid, level: level.spec.uid };
    if (level.spec.exempt)
      return this.#seated(this.#ticket(exchange, flow, level), exchange, work, requestMs);
    return this.#rounds.run(shareOf(user, info.cluster), user.name, () =>
      this.#levels.get(flow.level) === level
        ? this.#seated(this.#ticket(exchange, flow, level), exchange, work, requestMs)
        : this.run(exchange, work, requestMs),
    );
  }

  /** Whatever its level, there is one thread. Rejects with 429. */
  longTurnOf(exchange: Exchange): (bytes: number) => Promise<void> | undefined {
    const { user, info, request } = exchange;
    return (bytes) => {
      if (bytes <= longBytes) return undefined;
      // Not before: a request has a signal once somebody looks at it, and few take a long step.
      const { signal } = request;
      const wanted = () =>
        signal?.aborted !== true && performance.now() < (exchange.until ?? Number.POSITIVE_INFINITY);
      return this.#longSteps.turn(shareOf(user, info.cluster), { wanted, signal });
    };
  }

  #seated(ticket: Ticket, exchange: Exchange, work: Work, requestMs: number): Promise<ApiResponse> {
    const { level, flow } = ticket;
    if (level.spec.exempt || (level.queues.length === 0 && this.#mayTake(ticket, this.#roomFor(ticket)))) {
      this.#begin(ticket);
      return this.#working(ticket, exchange, work);
    }
    if (level.spec.queuing === undefined) return this.#refused(ticket, exchange, 'concurrency-limit');
    if (!level.queues.enqueue(ticket)) return this.#refused(ticket, exchange, 'queue-full');
    this.#waiting.add(level);
    this.#observer?.queued(this.#sortedOf(flow), ticket.seats);
    const turn = turnOf(ticket, {
      signal: exchange.request.signal,
      millis: Math.min(requestMs / 4, longestMs),
      deadlines: this.#deadlines,
      leave: (reason) => this.#give(ticket, reason),
    });
    // Those who wait may wait for their own logical cluster.
    this.#serve(level);
    return turn.then((reason) =>
      reason === undefined ? this.#working(ticket, exchange, work) : this.#refused(ticket, exchange, reason),
    );
  }

  #ticket(exchange: Exchange, flow: Flow, level: Level): Ticket {
    const { user, info } = exchange;
    const own = flow.by === 'ByUser' ? user.name : flow.by === 'ByNamespace' ? info.namespace : '';
    const cluster = shareOf(user, info.cluster);
    return {
      level,
      flow,
      cluster,
      queue: level.queueOf(flow.name, cluster, own),
      seats: level.spec.exempt ? 1 : seatsOf(exchange, level.limits.widest),
      came: performance.now(),
      began: 0,
      decided: () => undefined,
    };
  }

  /** Who waits for it leaves its queue: with a seat, or for a reason. */
  #give(ticket: Ticket, reason?: Refusal): void {
    const { level, flow, seats } = ticket;
    level.queues.leave(ticket);
    if (level.queues.length === 0) this.#waiting.delete(level);
    this.#observer?.left(this.#sortedOf(flow), seats);
    if (reason === undefined) this.#begin(ticket);
    ticket.decided(reason);
    // Who stood behind a wide one may fit.
    if (reason !== undefined) this.#next();
  }

  #begin(ticket: Ticket): void {
    const { level, seats } = ticket;
    level.used(ticket.cluster, seats);
    level.queues.began(ticket);
    ticket.began = performance.now();
    this.#observer?.dispatched(this.#sortedOf(ticket.flow), seats);
    if (!level.spec.exempt) this.#tellWaited(ticket, true);
  }

  /** The seats are taken until the work ends, of what lasts until it has begun. */
  #working(ticket: Ticket, exchange: Exchange, work: Work): Promise<ApiResponse> {
    let doing: Promise<ApiResponse>;
    try {
      doing = work(exchange);
    } catch (error) {
      doing = Promise.reject(error);
    }
    return doing.finally(() => this.#end(ticket));
  }

  #end(ticket: Ticket): void {
    const { level, flow, seats } = ticket;
    const millis = performance.now() - ticket.began;
    level.used(ticket.cluster, -seats);
    level.queues.ended(ticket, millis);
    this.#observer?.ended(this.#sortedOf(flow), seats);
    if (level.inUse === 0 && level.queues.length === 0) this.#leaving.delete(level);
    if (this.#waiting.size > 0) this.#next(level);
  }

  /** Gives free seats to who waits, of `first` before others. */
  #next(first?: Level): void {
    if (first) this.#serve(first);
    for (const level of this.#waiting) this.#serve(level);
  }

  #serve(level: Level): void {
    for (;;) {
      if (level.queues.length === 0) return;
      const room = roomOf(level, this.#levels.values());
      const next = level.queues.next((waiter) => this.#mayTake(waiter as Ticket, room)) as Ticket | undefined;
      if (next === undefined) return;
      this.#give(next);
    }
  }

  /** Of a level that has enough of its own for anybody, others need not be looked at. */
  #roomFor({ level, seats, cluster }: Ticket): number {
    const own = level.limits.nominal - level.inUse;
    const enough = cluster === '' ? seats : level.heldBy(cluster) + seats;
    return own >= enough ? own : roomOf(level, this.#levels.values());
  }

  /** A level that is idle does what comes, however wide. */
  #mayTake({ level, seats, cluster }: Ticket, room: number): boolean {
    if (level.inUse === 0) return true;
    return seats <= room && (cluster === '' || mayHold(level.heldBy(cluster), seats, room));
  }

  #tellWaited({ flow, came }: Ticket, served: boolean): void {
    this.#observer?.waited(this.#sortedOf(flow), (performance.now() - came) / 1000, served);
  }

  #refused(ticket: Ticket, { core, request, info }: Exchange, reason: Refusal): Promise<ApiResponse> {
    this.#observer?.rejected(this.#sortedOf(ticket.flow), reason);
    this.#tellWaited(ticket, false);
    core.observer?.terminated(request, info, 429);
    return Promise.resolve(tooMany());
  }

  #sortedOf(flow: Flow): Sorted {
    let sorted = this.#sorted.get(flow);
    if (sorted === undefined) {
      sorted = { level: flow.level, schema: flow.name };
      this.#sorted.set(flow, sorted);
    }
    return sorted;
  }
}
