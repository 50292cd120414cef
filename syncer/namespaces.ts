import type { Client } from '../client/client.ts';
import { isMissing } from '../client/errors.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { locatorAnnotation, rootCluster } from '../cluster/names.ts';
import type { Locator, ShareView, ShareViewSpec } from '../cluster/types.ts';
import type { Clock } from '../kube/clock.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { isRefusal, Labelling, type Outstanding } from './labelling.ts';
import { Newest } from './newest.ts';
import {
  borne,
  type Former,
  isLeftBehind,
  leftBehind,
  namespaceFor,
  namespaceLocator,
  namespaceOwnership,
  readLocator,
} from './ownership.ts';
import { managedSelector } from './probes.ts';
import type { Unreadable } from './unreadable.ts';

const resource = { group: '', version: 'v1', resource: 'namespaces' };

/** Our namespaces on the physical cluster. */
export class Namespaces {
  readonly informer: Informer;
  /** The uids of former registrations of this cluster, whose namespaces are taken over. */
  readonly former: Former;
  /** The uids of what is nobody's, namespaces and claims, whatever they bear: see let-go-unknown.ts. */
  readonly letGo = new Set<string>();
  readonly #name: string;
  /** The PhysicalCluster's spec.namespaceLabels. */
  readonly #patterns: readonly string[];
  readonly #client: Client;
  readonly #syncer: string;
  readonly #signal: AbortSignal;
  readonly #labelling: Labelling;
  readonly #newest: Newest;

  constructor(options: {
    client: Client;
    syncer: string;
    former: Former;
    /** The PhysicalCluster's, and its spec.namespaceLabels. */
    name: string;
    patterns: readonly string[];
    signal: AbortSignal;
    logger: Logger;
    unreadable: Unreadable;
    clock: Clock;
  }) {
    const { client, syncer, former, name, patterns, signal, logger, unreadable, clock } = options;
    this.former = former;
    this.#name = name;
    this.#patterns = patterns;
    this.#client = client;
    this.#syncer = syncer;
    this.#signal = signal;
    this.#labelling = new Labelling({
      client,
      signal,
      logger,
      written: (object) => this.#newest.written(object),
    });
    const { onOutcome, onRest } = unreadable.reading(resource);
    this.informer = startInformer(client, resource, {
      labelSelector: managedSelector,
      signal,
      logger,
      onOutcome,
      clock,
    });
    signal.addEventListener('abort', onRest, { once: true });
    this.informer.addIndex('logical', (object) => {
      const locator = readLocator(object);
      const isOwn = locator && locator.name === undefined && this.#isOwn(locator);
      return isOwn ? [`${locator.cluster}/${locator.namespace}`] : [];
    });
    this.#newest = new Newest(this.informer);
    this.informer.on({ delete: ({ metadata: { name = '' } }) => this.#labelling.forget(name) });
  }

  #isOwn({ syncer }: Locator): boolean {
    return syncer === this.#syncer || this.former.has(syncer);
  }

  /** How many are there; undefined while that is not known. */
  count(): number | undefined {
    if (!this.informer.hasSynced) return undefined;
    return this.informer.list().filter(({ metadata }) => this.own(metadata.name ?? '')).length;
  }

  /** The namespace if it is this syncer's; only its locator says so. */
  own(name: string): { locator: Locator; object: KubeObject } | undefined {
    const object = this.#newest.told(name);
    const locator = object && readLocator(object);
    if (!object || !locator || !this.#isOwn(locator) || locator.name !== undefined) return undefined;
    if (this.letGo.has(object.metadata.uid ?? '')) return undefined;
    return { locator, object };
  }

  /** Where the objects of a logical namespace are; of several, those of one that is going come last. */
  of(cluster: string, namespace: string): string[] {
    const found = this.informer.byIndex('logical', `${cluster}/${namespace}`);
    const isGoing = ({ metadata }: KubeObject) => Number(metadata.deletionTimestamp !== undefined);
    return found.sort((a, b) => isGoing(a) - isGoing(b)).map(({ metadata }) => metadata.name ?? '');
  }

  /** Fails with NotOwned where the name is somebody else's, and with Terminating while it is going. */
  async ensure(
    name: string,
    locator: Locator,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<Outstanding | undefined> {
    const object = this.#newest.get(name) ?? (await this.#create(name, locator, labels));
    const owner = namespaceOwnership(object, locator, this.former);
    if (owner === 'unsigned') await this.#sign(name, object, locator);
    if (owner === 'foreign')
      throw new StatusError(409, 'NotOwned', `namespace ${name} ${this.#whose(object, locator)}`);
    if (object.metadata.deletionTimestamp)
      throw new StatusError(409, 'Terminating', `namespace ${name} is being deleted`);
    return await this.label(name, locator, labels);
  }

  /**
   * Of one that is there and is exactly that Namespace's, the labels; nothing else is touched, nor waited for. Whoever
   * guards labels there keeps nothing else from running: the answer says what is outstanding.
   */
  async label(
    name: string,
    locator: Locator,
    labels: Readonly<Record<string, string>>,
  ): Promise<Outstanding | undefined> {
    const read = () => {
      const object = this.#newest.get(name);
      return object && namespaceOwnership(object, locator, this.former) === 'ours' ? object : undefined;
    };
    try {
      return await this.#labelling.write(name, read, borne(labels, locator, this.#patterns));
    } catch (error) {
      if (isMissing(error, name)) this.forget(name);
      throw error;
    }
  }

  /**
   * Signs those from before uids counted that shares go to, so that everything that begins afterwards knows whose they
   * are. Answers when the watch has told it.
   */
  async signAll(shares: Iterable<ShareView>, logger: Logger): Promise<void> {
    const unsigned = new Map<string, ShareViewSpec>();
    for (const { spec } of shares) {
      const object = spec && this.informer.get(keyOf(rootCluster, '', spec.physicalNamespace));
      if (!spec || !object || namespaceOwnership(object, namespaceLocator(spec), this.former) !== 'unsigned')
        continue;
      unsigned.set(spec.physicalNamespace, spec);
    }
    for (const [name, spec] of unsigned) {
      const of = namespaceLocator(spec);
      try {
        await this.ensure(name, of, spec.namespaceLabels);
        await this.#told(name, of);
      } catch (err) {
        this.#signal.throwIfAborted();
        logger.warn({ err, namespace: name }, 'a namespace of ours could not be signed');
      }
    }
  }

  async #told(name: string, { uid }: Locator): Promise<void> {
    for (let tries = 0; tries < 100 && this.own(name)?.locator.uid !== uid; tries++) {
      await sleep(20, this.#signal);
    }
  }

  #whose(object: KubeObject, of: Locator): string {
    return isLeftBehind(object, of) ? leftBehind(this.#name) : 'exists and is not ours';
  }

  /** Says whose it is: from now on it goes with that Namespace. */
  async #sign(name: string, object: KubeObject, of: Locator): Promise<void> {
    const { uid, resourceVersion } = object.metadata;
    const annotations = { [locatorAnnotation]: JSON.stringify(of) };
    const metadata = { uid, resourceVersion, annotations };
    const signal = this.#signal;
    this.#newest.made(name, await this.#client.patch(resource, { name }, 'merge', { metadata }, { signal }));
  }

  async #create(name: string, of: Locator, labels: Readonly<Record<string, string>>): Promise<KubeObject> {
    const create = async (wanted: Readonly<Record<string, string>>) => {
      const namespace = namespaceFor(name, of, wanted);
      const object = await this.#client.create(resource, namespace, { signal: this.#signal });
      this.#newest.made(name, object);
      return object;
    };
    try {
      return await create(borne(labels, of, this.#patterns)).catch((error) => {
        if (!isRefusal(error)) throw error;
        // Maybe of a label: none but the marks are needed to begin with, and not even those.
        return create(borne({}, of)).catch(() => create({}));
      });
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      return await this.#client.get(resource, { name }, this.#signal);
    }
  }

  /** The apply found no namespace: what we thought we had made is gone. */
  forget(name: string): void {
    this.#newest.forget(name);
  }

  async delete(name: string): Promise<void> {
    const own = this.own(name);
    if (!own) return;
    this.#newest.forget(name);
    const { uid, resourceVersion } = own.object.metadata;
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    try {
      await this.#client.delete(resource, { name }, { preconditions }, this.#signal);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  }
}
