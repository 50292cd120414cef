import type { Client } from '../client/client.ts';
import { toTheSecond, withHeartbeat } from '../cluster/heartbeats.ts';
import { isReady } from '../cluster/life.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster, PhysicalClusterStatus } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { Asking, type AskingOptions } from './asking.ts';
import { busyMs, isBusy } from './busy.ts';
import type { Together } from './heartbeats.ts';
import type { Found } from './look.ts';
import type { Outage } from './outage.ts';
import { pausesOf, probeMs, saysItRests, silentAfter, silentMsAt } from './pace.ts';
import type { Questions } from './questions.ts';
import type { Unreadable } from './unreadable.ts';
import { isSame, statusOf, type Watched } from './word.ts';

export interface HeartbeatOptions extends AskingOptions {
  name: string;
  upstream: Client;
  logger: Logger;
  /** Hears what each beat found. */
  outage: Outage;
  /** Why the cluster of this uid may not be taken under this name, as a sentence. */
  whyNotTaken?(clusterUID: string): Promise<string | undefined>;
  /** Why its kubeconfig of now does not work, where it is asked by the one of before. */
  whyFormerKubeconfig?(): string | undefined;
  /** Asks for a beat before its time. */
  questions: Questions;
  /** The cluster has become Ready, or became so with the beat before, or may have been taken for silent: what is made of that is done by then. */
  heardAgain?(): void;
  /** What its nodes offer together, and their labels; undefined while that is not known. */
  offers(): Record<string, string> | undefined;
  nodeLabels(): readonly string[] | undefined;
  /** The kinds that may not be read. */
  unreadable: Pick<Unreadable, 'list' | 'isWatched'>;
  /** How many namespaces of ours are there; undefined while that is not known. */
  namespaces(): number | undefined;
  /** Absent: whatever is to be said is said of it alone. */
  together?: Together;
}

/** So many intervals after its last word it says that nothing is new: half of the time after which it would count as silent. */
const saidBeats = 2;

/** Of a beat that took longer it is said at once: until it is said with others some time goes by. */
const togetherBeats = 0.2;

/** So many intervals after its status was written it is written again, though it was said meanwhile, with others, that nothing is new. */
const writtenBeats = 30;

/** So many intervals before it would count as silent what it serves is waited for no more. */
const latestBeats = 0.5;

/**
 * Asks every `intervalMs`, and when somebody wants to know, whether the physical API answers; where watches are open that would end
 * if it did not, each other time, or each sixth where nothing of ours is (see pace.ts). What is found is said when it is news, or was
 * asked for, and else with every other interval.
 */
export async function runHeartbeat(options: HeartbeatOptions): Promise<void> {
  const { signal, logger, intervalMs, questions } = options;
  const heart = new Heart(options);
  while (!signal.aborted) {
    let busyFor: number | undefined;
    try {
      await heart.beat();
    } catch (err) {
      if (isBusy(err)) busyFor = busyMs(err, intervalMs);
      if (!signal.aborted) logger[isBusy(err) ? 'debug' : 'warn']({ err }, 'heartbeat failed');
    }
    // Nor is it asked before its time because somebody wants to know.
    if (busyFor !== undefined) await sleep(busyFor, signal);
    else await questions.wait(intervalMs, signal, heart.leavesAlone());
  }
}

class Heart {
  readonly #options: HeartbeatOptions;
  readonly #asking: Asking;
  /** When it was said last, alone or with others, and when alone; by a clock that nobody sets. */
  #said = Number.NEGATIVE_INFINITY;
  #written = Number.NEGATIVE_INFINITY;
  /** When the last beat began that went well. */
  #last: number | undefined;
  /** With the last beat; and whether that took next to no time, since what is left alone for long begins when it ends. */
  #hasSaid = false;
  #wasQuick = false;
  /** How many beats more are of a cluster that has just been heard of again. */
  #unsettled = 0;
  /** The cluster as the last word was written: while this says so in time it alone says this of it, and need not read it again. Of one that was late others say that nothing is heard, and since when counts. */
  #known: PhysicalCluster | undefined;
  /** Of the last beat that was answered, said or not. */
  #lastAnswer: string | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#asking = new Asking(options);
  }

  /**
   * It went well and was said, nobody waits for what is made of that, and what is watched there has not changed since. After a beat that
   * said nothing the next says something: two intervals more, and what that takes, might be more than others wait for a word.
   */
  get isSettled(): boolean {
    const known = this.#known;
    const isCalm = this.#unsettled === 0 && this.#hasSaid;
    return (
      known !== undefined && isReady(known) && isCalm && isSame(known.status, this.#watched(known.status))
    );
  }

  /** For how much longer it may be left alone, asked when it has been for an interval, and then for each piece of that; undefined: no longer. */
  leavesAlone(): () => number | undefined {
    const { rests, intervalMs, unreadable } = this.#options;
    let pauses: readonly number[] | undefined;
    let next = 0;
    return () => {
      if (!this.isSettled || !unreadable.isWatched || (next > 0 && this.isOther)) return undefined;
      pauses ??= pausesOf(this.#known, rests() && this.#wasQuick, intervalMs);
      return pauses[next++];
    };
  }

  async beat(): Promise<void> {
    const { name, upstream, signal, intervalMs, together } = this.#options;
    const lateMs = silentMsAt(this.#known, intervalMs) - intervalMs;
    const began = Date.now();
    const isLate = began - (this.#last ?? began) > lateMs;
    const known = isLate || this.isOther ? undefined : this.#known;
    const before =
      known ??
      withHeartbeat(
        await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal),
        together?.heardAt(),
      );
    const isKnown = before === known;
    this.#known = undefined;
    this.#hasSaid = false;
    const after = await this.#look(before, isKnown);
    this.#known = after;
    const becameReady = isReady(after) && !isReady(before);
    // One beat may have taken so long that the cluster counted as silent, and not silent, while it was under way.
    if (becameReady || Date.now() - (this.#last ?? began) > lateMs) this.#unsettled = 2;
    this.#last = began;
    this.#wasQuick = Date.now() - began <= togetherBeats * intervalMs;
    if (this.#unsettled > 0) this.#options.heardAgain?.();
    this.#unsettled = Math.max(0, this.#unsettled - 1);
  }

  /** Somebody else has written it since. */
  get isOther(): boolean {
    const seen = this.#options.together?.seen();
    return seen !== undefined && seen.metadata.resourceVersion !== this.#known?.metadata.resourceVersion;
  }

  /**
   * Says what is found, unless it was said just before: the cluster with it. Of a cluster that is busy nothing is said as long as it
   * is not silent for it: it throws what that answered.
   */
  async #look(before: PhysicalCluster, isKnown: boolean): Promise<PhysicalCluster> {
    const { name, upstream, signal, intervalMs, questions } = this.#options;
    // Of what happens while it is asked nothing is said.
    const [began, beganAt] = [Date.now(), performance.now()];
    const isDue = (since: number, beats: number) => beganAt - since >= (beats - 0.5) * intervalMs;
    const found = await this.#asking.look(before, questions.areOpen);
    if (found.busy !== undefined) {
      const last = Date.parse(before.status?.lastHeartbeatTime ?? '') || 0;
      const next = Date.now() + busyMs(found.busy, intervalMs);
      if (isReady(before) && next < last + silentMsAt(before, intervalMs) - intervalMs) throw found.busy;
    }
    this.#options.outage.heard(found.error);
    if (found.error === undefined) this.#lastAnswer = toTheSecond(began);
    const leftMs = this.#said + silentMsAt(before, intervalMs) - latestBeats * intervalMs - performance.now();
    const isFirst = !Number.isFinite(this.#said);
    const timeoutMs = probeMs(intervalMs);
    const restMs = isFirst ? timeoutMs : Math.max(0, Math.min(timeoutMs, leftMs));
    const serves =
      found.serves ?? (found.error === undefined ? await this.#asking.serves(restMs) : undefined);
    const status = { ...(await this.#statusOf(before, found, began)), ...(serves && { serves }) };
    const isNews = !isKnown || !isSame(before.status, status);
    if (!isNews && !questions.areOpen) {
      if (!isDue(this.#said, saidBeats)) return before;
      const isQuick = performance.now() - beganAt <= togetherBeats * intervalMs;
      const may = isQuick && isReady(before) && !isDue(this.#written, writtenBeats);
      if (may && this.#note(began, before)) {
        this.#said = beganAt;
        this.#hasSaid = true;
        return withHeartbeat(before, began);
      }
    }
    questions.answer(began);
    const to = { name, subresource: 'status' };
    const known = await upstream.patch<PhysicalCluster>(
      physicalClusters,
      to,
      'merge',
      { status },
      { signal },
    );
    this.#said = beganAt;
    this.#written = beganAt;
    this.#hasSaid = true;
    return known;
  }

  /** With others. Who asks is told of it alone, so that nobody takes it for an answer. */
  #note(began: number, before: PhysicalCluster): boolean {
    const { together, questions, intervalMs } = this.#options;
    return together?.note(began, () => questions.ask(Date.now()), saysItRests(before, intervalMs)) ?? false;
  }

  async #statusOf(before: PhysicalCluster, found: Found, began: number): Promise<PhysicalClusterStatus> {
    const { unreadable, whyNotTaken, whyFormerKubeconfig } = this.#options;
    const lastAnswerTime = this.#lastAnswer ?? before.status?.lastAnswerTime;
    const clusterUID = found.clusterUID ?? before.status?.clusterUID;
    const refused = clusterUID && (await whyNotTaken?.(clusterUID));
    return statusOf(before, found, {
      began,
      lastAnswerTime,
      refused: refused || undefined,
      former: whyFormerKubeconfig?.(),
      unread: unreadable.list(),
      watched: this.#watched(before.status),
    });
  }

  #watched(said: PhysicalClusterStatus | undefined): Watched {
    const { rests, intervalMs } = this.#options;
    const [namespaces, allocatable] = [this.#options.namespaces(), this.#options.offers()];
    const labels = this.#options.nodeLabels();
    return {
      ...silentAfter(said, rests(), intervalMs),
      ...(namespaces !== undefined && { namespaces }),
      ...(allocatable && { allocatable }),
      ...(labels && { nodeLabels: [...labels] }),
    };
  }
}
