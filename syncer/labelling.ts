import type { Client } from '../client/client.ts';
import { isOwnKey } from '../cluster/namespace-labels.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { type LabelPatch, labelPatch, type MayChange } from './namespace-labels.ts';

const resource = { group: '', version: 'v1', resource: 'namespaces' };
/** After so long it is asked again: what guards the labels there may have changed its mind. */
const refusedMs = 300_000;
const busyMs = 1_000;
const mostTries = 5;
/** Stands for the whole namespace. */
const all = '*';

type Labels = Readonly<Record<string, string>>;

/** What is not there as it should be, by the keys it has there, and when to try again. */
export interface Outstanding {
  keys: string[];
  againMs: number;
}

interface Refusal {
  /** Null: to take it away. */
  value: string | null;
  until: number;
}

/**
 * Writes the labels of our namespaces. A cluster may refuse any of them, or that anything is written: what it takes is
 * written all the same, the marks that keep logical clusters apart before all.
 */
export class Labelling {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #logger: Logger;
  readonly #written: (object: KubeObject) => void;
  readonly #now: () => number;
  readonly #refusals = new Map<string, Map<string, Refusal>>();
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(options: {
    client: Client;
    signal: AbortSignal;
    logger: Logger;
    written(object: KubeObject): void;
    /** Milliseconds; default: the clock. */
    now?(): number;
  }) {
    this.#client = options.client;
    this.#signal = options.signal;
    this.#logger = options.logger;
    this.#written = options.written;
    this.#now = options.now ?? Date.now;
  }

  /** It is gone. */
  forget(name: string): void {
    this.#refusals.delete(name);
  }

  /** One at a time of each namespace: the next finds what the one before has learned. */
  async write(
    name: string,
    read: () => KubeObject | undefined,
    wanted: Labels,
  ): Promise<Outstanding | undefined> {
    const before = this.#running.get(name);
    const turn = Promise.resolve(before).then(async () => {
      const object = read();
      return object && (await this.#write(name, object, wanted));
    });
    const over = turn.catch(() => {});
    this.#running.set(name, over);
    try {
      return await turn;
    } finally {
      if (this.#running.get(name) === over) this.#running.delete(name);
    }
  }

  async #write(name: string, object: KubeObject, wanted: Labels): Promise<Outstanding | undefined> {
    if (!this.#mayTry(name, all, null)) return this.#outstanding(name, wanted);
    const mayChange: MayChange = (key, value) => this.#mayTry(name, key, value);
    try {
      await this.#bring(name, object, wanted, mayChange);
    } catch (err) {
      if (isStatusError(err, 'Conflict')) return { keys: [], againMs: busyMs };
      if (!isRefusal(err)) throw err;
      await this.#oneByOne(name, object, wanted, mayChange);
      const { keys = [] } = this.#outstanding(name, wanted) ?? {};
      this.#logger.warn({ err, namespace: name, keys }, 'labels of a namespace of ours are refused there');
    }
    return this.#outstanding(name, wanted);
  }

  async #oneByOne(name: string, object: KubeObject, wanted: Labels, mayChange: MayChange): Promise<void> {
    const changes = Object.entries(labelPatch(object, wanted, mayChange)?.labels ?? {});
    const refuse = ([key, value]: [string, string | null]) => this.#refuse(name, key, value);
    // Where nothing at all may be written it is not asked for each.
    let now = object;
    const mayWrite = await this.#isTaken(async () => {
      now = await this.#patch(name, now, { labels: {}, annotations: {} });
    });
    if (!mayWrite || changes.length === 0) {
      this.#refuse(name, all, null);
      changes.forEach(refuse);
      return;
    }
    const marksFirst = changes.sort(([a], [b]) => Number(isOwnKey(b)) - Number(isOwnKey(a)));
    for (const change of marksFirst) {
      const isTaken = await this.#isTaken(async () => {
        now = await this.#bring(name, now, wanted, (key) => key === change[0]);
      });
      if (!isTaken) refuse(change);
    }
  }

  async #isTaken(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      // Somebody else writes all the time: it is asked again soon enough.
      if (isRefusal(error)) return false;
      if (isStatusError(error, 'Conflict')) return true;
      throw error;
    }
  }

  /** Fails with Conflict where others are quicker each time. What others put there counts as it is by then. */
  async #bring(name: string, object: KubeObject, wanted: Labels, mayChange: MayChange): Promise<KubeObject> {
    let now = object;
    for (let tries = 1; ; tries++) {
      const isGoing = now.metadata.deletionTimestamp !== undefined;
      const patch = isGoing ? undefined : labelPatch(now, wanted, mayChange);
      if (!patch) return now;
      try {
        return await this.#patch(name, now, patch);
      } catch (error) {
        if (!isStatusError(error, 'Conflict') || tries === mostTries) throw error;
        now = await this.#client.get(resource, { name }, this.#signal);
        if (now.metadata.uid !== object.metadata.uid) throw error;
      }
    }
  }

  async #patch(name: string, { metadata }: KubeObject, patch: LabelPatch): Promise<KubeObject> {
    const { uid, resourceVersion } = metadata;
    const body = { metadata: { ...patch, uid, resourceVersion } };
    const written = await this.#client.patch(resource, { name }, 'merge', body, { signal: this.#signal });
    this.#written(written);
    return written;
  }

  #refuse(name: string, key: string, value: string | null): void {
    const refusals = this.#refusals.get(name) ?? new Map<string, Refusal>();
    this.#refusals.set(name, refusals.set(key, { value, until: this.#now() + refusedMs }));
  }

  #mayTry(name: string, key: string, value: string | null): boolean {
    const refusal = this.#refusals.get(name)?.get(key);
    return refusal === undefined || refusal.value !== value || refusal.until <= this.#now();
  }

  #outstanding(name: string, wanted: Labels): Outstanding | undefined {
    const refusals = this.#refusals.get(name);
    if (!refusals) return undefined;
    for (const [key, { value, until }] of refusals)
      if (until <= this.#now() || value !== (wanted[key] ?? null)) refusals.delete(key);
    if (refusals.size === 0) this.#refusals.delete(name);
    const untils = Array.from(refusals.values(), ({ until }) => until);
    if (untils.length === 0) return undefined;
    const keys = [...refusals.keys()].filter((key) => key !== all).sort();
    return { keys, againMs: Math.min(...untils) - this.#now() };
  }
}

/** By somebody who guards what is written there. That it is gone, or that we are not known there, is none. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  return error.code >= 400 && error.code < 500 && ![401, 404, 408, 409, 429].includes(error.code);
}
