import { type OnDemandInformer, onDemandInformer } from '../client/on-demand.ts';
import { keyOf } from '../client/url.ts';
import { rootCluster } from '../cluster/names.ts';
import { type ReflectedKind, reflectedKind } from '../cluster/reflected.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Engine } from './engine.ts';
import { controlledBy } from './owners.ts';
import { digest } from './records.ts';
import { isOfFormer, isUnderOther, ourShape, type Place, slim } from './reflected.ts';
import { isForGood, isRefusedObject, Refused } from './refused.ts';
import { Shown } from './shown.ts';

const unsyncedMs = 500;

/** What goes up of the object at `<physical namespace>/<name>`; undefined: nothing, not any more either. */
export type ToReflection = (
  key: string,
  object: KubeObject | undefined,
  place: Place | undefined,
) => Promise<KubeObject | Retry | undefined>;

/** Whether what is not shown as it is will be taken: now, later for sure enough to wait for, soon or not at all, or never. */
export type Prospect = 'now' | 'later' | 'soon' | 'never';

/** The physical objects of one kind in our namespaces, shown in their logical namespaces under their own names. */
export class Reflector {
  /** Awake while something of the kind may be there that is ours: business.ts. */
  readonly informer: OnDemandInformer;
  readonly #engine: Engine;
  readonly #kind: ReflectedKind;
  readonly #reflect: ToReflection;
  readonly #prospect: (source: KubeObject) => Prospect;
  readonly #queue = new WorkQueue();
  /** The physical cluster's list or watch failed last. */
  #isFailing = false;
  readonly #shown: Shown;
  readonly #refused: Refused;
  #pendingNoMore: (uid: string) => void = () => {};

  /** `prospect`: default now, of all. */
  constructor(
    engine: Engine,
    resource: string,
    reflect: ToReflection,
    prospect: (source: KubeObject) => Prospect = () => 'now',
  ) {
    const { client, signal, logger } = engine;
    this.#engine = engine;
    this.#kind = reflectedKind(resource);
    this.#reflect = reflect;
    this.#prospect = prospect;
    this.#refused = new Refused(this.#kind);
    this.#shown = new Shown(engine, this.#kind, {
      isThere: (key) => this.#object(key) !== undefined,
      look: (key) => this.#queue.add(key),
    });
    const reading = engine.unreadable.reading(this.#kind);
    this.informer = onDemandInformer(client, this.#kind, {
      signal,
      logger,
      transform: slim,
      onOutcome: (failure) => {
        this.#isFailing = failure !== undefined;
        return reading.onOutcome(failure);
      },
      onRest: () => {
        this.#isFailing = false;
        reading.onRest();
      },
    });
    this.informer.addIndex('controller', controlledBy);
    const tell = (object: KubeObject) => this.#tell(object);
    this.informer.on({ add: tell, update: tell, delete: tell });
  }

  /** Looks again at what the object of this uid controls, which was not known until now; their uids. */
  controllerCame(uid: string): string[] {
    const controlled = this.informer.byIndex('controller', uid);
    for (const object of controlled) this.#tell(object);
    return controlled.flatMap(({ metadata }) => metadata.uid ?? []);
  }

  lookAgain(object: KubeObject): void {
    this.#tell(object);
  }

  /** We were not heard of for a while: looks at what the logical clusters hold of us. */
  heardAgain(): void {
    if (this.informer.hasSynced) void this.#shown.read();
  }

  /** All that is there is known, but for what has yet to be told: nobody reads in vain. */
  get isCurrent(): boolean {
    return this.informer.hasSynced && !this.#isFailing;
  }

  /** It is on its way up: there, not refused, and not yet shown. */
  isPending(key: string): boolean {
    const object = this.#object(key);
    if (object === undefined || this.#refused.has(key)) return false;
    const reflected = this.#shown.get(key);
    return reflected === undefined || isOfFormer(this.#kind, reflected, object);
  }

  /** Who is told of what was pending when it is shown, or refused, by its uid there; in place of whoever was before. */
  onPendingNoMore(told: (uid: string) => void): void {
    this.#pendingNoMore = told;
  }

  /** What was seen last at this place, by a watch that goes on. */
  seen(key: string): KubeObject | undefined {
    return this.isCurrent ? this.#object(key) : undefined;
  }

  /** It is there, as far as is known. */
  mayHave(key: string): boolean {
    return !this.informer.hasSynced || this.#object(key) !== undefined;
  }

  /** Of what is shown of it. */
  uidOf(key: string): string | undefined {
    return this.#shown.get(key)?.uid;
  }

  /** What the logical clusters hold of us was read, or could not be. */
  get firstRead(): Promise<void> {
    return this.#shown.firstRead;
  }

  /** Of the kind: `replicasets.apps`. */
  get resource(): string {
    return groupResource(this.#kind);
  }

  /** What was seen there is shown, or may be: until that is gone somebody has to tell. */
  get mayBeShown(): boolean {
    return this.#shown.mayBe;
  }

  async run(ready: readonly Promise<unknown>[]): Promise<void> {
    const { name, signal, logger } = this.#engine;
    this.#shown.resync(() => this.informer.isAwake);
    await runController({
      name: `syncer-${this.#kind.resource}-${name}`,
      queue: this.#queue,
      workers: 8,
      reconcile: (key) => this.#reconcile(key),
      signal,
      logger,
      ready: [...ready, this.informer.synced, Promise.all(ready).then(() => this.#shown.readFirst())],
    });
  }

  #tell({ metadata: { namespace = '', name = '' } }: KubeObject): void {
    if (ourShape.test(namespace)) this.#queue.add(`${namespace}/${name}`);
  }

  #object(key: string): KubeObject | undefined {
    const [physical = '', name = ''] = key.split('/');
    return this.informer.get(keyOf(rootCluster, physical, name));
  }

  async #reconcile(key: string): Promise<Retry | undefined> {
    // What is not in a cache that is not full yet is not gone.
    if (!this.informer.hasSynced) return { after: unsyncedMs };
    // What it was put off for is in the caches that it goes by now.
    this.#queue.overtake(key);
    const [physical = '', name = ''] = key.split('/');
    const place = this.#engine.namespaces.own(physical)?.locator;
    const source = this.#object(key);
    const body = await this.#reflect(key, source, place);
    if (body && 'after' in body) return body as Retry;
    if (!source || !body || !place) {
      await this.#withdraw(key, name);
      if (this.#object(key)) this.#refused.note(key);
      return undefined;
    }
    const now = digest(body);
    const before = this.#shown.get(key);
    if (before && isOfFormer(this.#kind, before, source)) await this.#withdraw(key, name);
    // Of what several clusters may have, the server finds whether it is another one here.
    else if (before?.digest === now && (!this.#kind.shared || before.source === source.metadata.uid))
      return undefined;
    const prospect = this.#prospect(source);
    if (prospect !== 'now') return this.#refused.wait(key, prospect);
    const isPending = this.isPending(key);
    const retry = await this.#put(key, name, source, place, body as KubeObject, now);
    if (isPending && !this.isPending(key)) this.#pendingNoMore(source.metadata.uid ?? '');
    return retry;
  }

  async #put(
    key: string,
    name: string,
    source: KubeObject,
    place: Place,
    body: KubeObject,
    now: string,
  ): Promise<Retry | undefined> {
    const { upstream, signal, logger } = this.#engine;
    const { cluster, namespace } = place;
    const { uid: of, creationTimestamp: created } = source.metadata;
    const shownUid = this.#shown.get(key)?.uid;
    const object = {
      ...body,
      metadata: { ...body.metadata, namespace },
      namespaceUid: place.uid,
      ...(this.#kind.shared && { sourceUid: of, ...(shownUid && { shownUid }) }),
    };
    let written: KubeObject;
    try {
      written = await upstream.update(this.#kind, object, { cluster, signal });
    } catch (err) {
      if (!isRefusedObject(err)) throw err;
      const isEvent = this.#kind.kind === 'Event';
      const isOver = isForGood(err);
      if (isEvent && isOver) return this.#refused.wait(key, 'never');
      // Whatever is made there while a Namespace goes is refused, one after the other: that is how it ends.
      if (!isEvent && !isOver && !this.#refused.has(key)) {
        logger.warn({ err, cluster, namespace, name, kind: this.#kind.kind }, 'it cannot be reflected');
      }
      return this.#refused.again(key, isEvent || isOver);
    }
    const isWhole = !isUnderOther(object, written);
    const { uid } = written.metadata;
    this.#shown.set(key, { cluster, namespace, uid, source: of, created, digest: isWhole ? now : '' });
    if (!isWhole) return this.#refused.againUnderOther(key);
    this.#refused.delete(key);
    return undefined;
  }

  async #withdraw(key: string, name: string): Promise<undefined> {
    this.#refused.delete(key);
    const reflected = this.#shown.get(key);
    if (!reflected) return undefined;
    const { cluster, namespace, source } = reflected;
    const { upstream, signal } = this.#engine;
    // Of what others have too the uid here may have become another meanwhile.
    const uid = (this.#kind.shared ? source : undefined) ?? reflected.uid;
    try {
      const how = uid === undefined ? {} : { preconditions: { uid } };
      await upstream.delete(this.#kind, { cluster, namespace, name }, how, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    this.#shown.delete(key);
    return undefined;
  }
}
