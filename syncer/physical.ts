import type { Client } from '../client/client.ts';
import { isMissing } from '../client/errors.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf, type ResourceRef } from '../client/url.ts';
import { placedKinds } from '../cluster/kinds.ts';
import { rootCluster } from '../cluster/names.ts';
import { sleep } from '../kube/clock.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { StatusError } from '../kube/status.ts';
import { readLocator } from './ownership.ts';
import { managedSelector, Probes, unserved } from './probes.ts';
import { type TargetId, targetId } from './target.ts';
import type { Unreadable } from './unreadable.ts';

const syncMs = 30_000;
/** One for all: each would have a stack of its own. */
const answered = new Error('nobody waits for it any more');

export interface PhysicalOptions {
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  /** Something at this place appeared, changed or went. */
  changed: (id: TargetId) => void;
  /** Told before `changed`: it was not in the cache until now, or not known for ours. */
  appeared: (object: KubeObject) => void;
  unreadable: Unreadable;
  /** The kind may be read again: what waited for that goes on. */
  readable: (kind: ResourceRef) => void;
}

interface Watched {
  kind: ResourceRef;
  informer: Informer;
  /** Nothing is there, nor is to be, since then, by performance.now(). */
  idleSince: number | undefined;
  end(): void;
}

/** What bears our label on the physical cluster, one watch per kind in use. A label proves nothing: see ownership. */
export class Physical {
  readonly #options: PhysicalOptions;
  readonly #kinds = new Map<string, Watched>();
  /** All that were ever watched. */
  readonly #known = new Map<string, ResourceRef>();
  readonly #probes: Probes;
  #searching: Promise<void> | undefined;
  /** Refused, and asked for again from time to time. */
  readonly #asking = new Set<string>();

  constructor(options: PhysicalOptions) {
    this.#options = options;
    this.#probes = new Probes({ ...options, refused: (kind) => void this.#askAgain(kind).catch(() => {}) });
  }

  /**
   * Finds the kinds of which something is there from before, and reads them all: no orphan stays unseen. What may not be
   * read is read as soon as it may.
   */
  async start(kinds: readonly ResourceRef[] = placedKinds): Promise<void> {
    await Promise.all(
      kinds.map(async (kind) => {
        if (await this.#probes.hasInTheEnd(kind)) await this.#watchReadable(kind);
      }),
    );
  }

  /** Whether nothing is there from before, of whatever kind, and all may be read; answers when the cluster has. */
  async isEmpty(): Promise<boolean> {
    const found = await Promise.all(placedKinds.map((kind) => this.#probes.hasInTheEnd(kind)));
    return this.isAtRest && !found.includes(true);
  }

  /**
   * Resolves once the kind's cache is full. Fails, and starts nothing, where the kind is not served (NotServed) or
   * may not be read: one kind that does not work must hold up no worker of the others.
   */
  async watch(kind: ResourceRef): Promise<void> {
    const of = groupResource(kind);
    if (!this.#kinds.has(of)) await this.#probes.has(kind);
    const informer = this.#kinds.get(of)?.informer ?? this.#start(kind);
    if (informer.hasSynced) return;
    const { unreadable } = this.#options;
    const outcome = await this.#during(async (signal) => {
      const late = sleep(syncMs, signal).then(() => 'late' as const);
      const refused = unreadable.refused(kind, signal).then(() => 'refused' as const);
      return await Promise.race([informer.synced, refused, late]);
    });
    if (outcome === 'refused' && unreadable.why(kind) === 'Endless')
      throw new StatusError(403, 'Endless', `the list of ${of} there has no end`);
    if (outcome === 'refused') throw new StatusError(403, 'Forbidden', `${of} may not be listed there`);
    if (outcome === 'late') throw new StatusError(504, 'Timeout', `no list of ${of} within ${syncMs} ms`);
  }

  /** What is found to be unreadable as it is read is read when it may be, and waited for by nobody. */
  async #watchReadable(kind: ResourceRef): Promise<void> {
    const { unreadable } = this.#options;
    await this.#during((signal) => Promise.race([this.watch(kind), unreadable.refused(kind, signal)]));
  }

  /** Nothing that it waits for besides waits on, once it has its answer. */
  async #during<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    const life = new AbortController();
    const end = () => life.abort(signal.aborted ? signal.reason : answered);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    try {
      return await run(life.signal);
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  /** Ends the watches of what has not been there, and has no share (`kinds`: of which there are some), for so long. */
  rest(kinds: ReadonlySet<string>, afterMs: number): void {
    const now = performance.now();
    for (const [of, watched] of this.#kinds) {
      const { informer } = watched;
      if (informer.size > 0 || !informer.hasSynced || kinds.has(of)) watched.idleSince = undefined;
      else watched.idleSince ??= now;
      if (now - (watched.idleSince ?? now) < afterMs) continue;
      this.#kinds.delete(of);
      watched.end();
    }
  }

  /** Nothing is watched, nor asked for again since it may not be read. */
  get isAtRest(): boolean {
    return this.#kinds.size === 0 && this.#asking.size === 0 && this.#searching === undefined;
  }

  /** As at the start, of what is not watched: somebody may have put there what is ours, or a backup. Fails never. */
  search(): Promise<void> {
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    return this.#searching;
  }

  async #search(): Promise<void> {
    const { signal, logger } = this.#options;
    const all = new Map([...placedKinds, ...this.#known.values()].map((kind) => [groupResource(kind), kind]));
    const unwatched = [...all].flatMap(([of, kind]) => (this.#kinds.has(of) ? [] : [kind]));
    const look = async (kind: ResourceRef) => {
      try {
        if (await this.#probes.has(kind)) await this.watch(kind);
      } catch (err) {
        if (!signal.aborted) logger.debug({ err, kind }, 'could not be looked for');
      }
    };
    await Promise.all(unwatched.map(look));
  }

  #start(kind: ResourceRef): Informer {
    const { client, logger, changed, appeared, unreadable } = this.#options;
    const life = new AbortController();
    const end = () => life.abort(this.#options.signal.reason);
    this.#options.signal.addEventListener('abort', end, { once: true });
    const { signal } = life;
    const { onOutcome, onRest } = unreadable.reading(kind);
    const informer = startInformer(client, kind, {
      labelSelector: managedSelector,
      signal,
      logger,
      onOutcome,
    });
    this.#known.set(groupResource(kind), kind);
    this.#kinds.set(groupResource(kind), {
      kind,
      informer,
      idleSince: undefined,
      end: () => {
        this.#options.signal.removeEventListener('abort', end);
        end();
        onRest();
      },
    });
    informer.addIndex('namespace', (object) => [object.metadata.namespace ?? '']);
    const tell = ({ metadata: { namespace = '', name = '' } }: KubeObject) =>
      changed(targetId(kind, namespace, name));
    informer.on({
      add: appeared,
      update: (object, old) => readLocator(object)?.syncer !== readLocator(old)?.syncer && appeared(object),
    });
    informer.on({ add: tell, update: tell, delete: tell });
    return informer;
  }

  /** The kind of this target, in the version in which it is or was watched; undefined: it never was. */
  watched(id: TargetId): ResourceRef | undefined {
    return this.#known.get(id.split('/')[0] ?? '');
  }

  /** All of which something may have been there. */
  get kinds(): ResourceRef[] {
    return [...this.#known.values()];
  }

  cached(kind: ResourceRef, namespace: string, name: string): KubeObject | undefined {
    return this.#kinds.get(groupResource(kind))?.informer.get(keyOf(rootCluster, namespace, name));
  }

  /** Whether it is told what comes of this kind. */
  isWatched(kind: ResourceRef): boolean {
    return this.#kinds.get(groupResource(kind))?.informer.hasSynced === true;
  }

  /** All cached objects of a namespace. */
  *inNamespace(namespace: string): Iterable<{ kind: ResourceRef; object: KubeObject }> {
    for (const { kind, informer } of this.#kinds.values())
      for (const object of informer.byIndex('namespace', namespace)) yield { kind, object };
  }

  /** As it stands there now, labelled or not. */
  async read(kind: ResourceRef, namespace: string, name: string): Promise<KubeObject | undefined> {
    const { client, signal } = this.#options;
    try {
      return await client.get(kind, { namespace, name }, signal);
    } catch (error) {
      if (isMissing(error, name)) return undefined;
      throw unserved(error, kind);
    }
  }

  async #askAgain(kind: ResourceRef): Promise<void> {
    const { signal, logger, unreadable } = this.#options;
    const of = groupResource(kind);
    if (this.#asking.has(of)) return;
    this.#asking.add(of);
    try {
      for (let wait = 1_000; unreadable.has(kind); wait = Math.min(wait * 2, 15_000)) {
        await sleep(wait, signal);
        try {
          if (await this.#probes.has(kind)) await this.watch(kind);
        } catch (err) {
          signal.throwIfAborted();
          logger.debug({ err, kind }, 'cannot be read yet');
        }
      }
    } finally {
      this.#asking.delete(of);
    }
    this.#options.readable(kind);
  }
}
