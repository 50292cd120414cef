import type { Client } from '../client/client.ts';
import { isMissing } from '../client/errors.ts';
import type { ResourceRef } from '../client/url.ts';
import { notedOwners } from '../cluster/given-owners.ts';
import { type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { orphanOfAnnotation } from '../cluster/names.ts';
import type { Locator } from '../cluster/types.ts';
import { formatApiVersion, groupResource, parseApiVersion } from '../kube/gvk.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { orphanOf } from './orphans.ts';
import { type Former, readLocator } from './ownership.ts';
import type { Physical } from './physical.ts';
import { type TargetId, targetId } from './target.ts';
import type { Unreadable } from './unreadable.ts';

/** Which of our workloads made a pod: its place here, and the reference that the logical cluster understands. */
export interface Root {
  target: TargetId;
  /** Absent where the workload was orphaned: it made the pod, and owns nothing any more. */
  reference?: OwnerReference;
  /** Then: what names that workload, to be kept by all that it left behind. */
  mark?: string;
}

/** Made by something that may not be read: of which kinds a workload of ours may be that did, as `deployments.apps`. */
export interface Unknown {
  among: readonly string[];
}

/** One step up: the object, where it was read, and what controls it. */
interface Link {
  owner: OwnerReference | undefined;
  object?: KubeObject;
}

/** Between a workload and its pods there are at most two others: CronJob, Job, Pod. */
export const maxHops = 3;
/** What may stand above another. */
const above: Readonly<Record<string, string>> = {
  'replicasets.apps': 'deployments.apps',
  'jobs.batch': 'cronjobs.batch',
};
const services = { group: '', version: 'v1', resource: 'services' };
const maxKnown = 10_000;

/** Follows controller references up to an object that bears our locator. */
export class Owners {
  readonly #client: Client;
  readonly #physical: Physical;
  readonly #syncer: string;
  readonly #former: Former;
  readonly #unreadable: Unreadable;
  readonly #ruled: Ruled;
  readonly #seen: Seen;
  readonly #signal: AbortSignal;
  /** uid of a ReplicaSet or Job -> its controller, which changes only when that is orphaned. */
  readonly #between = new Map<string, OwnerReference>();

  constructor(options: {
    client: Client;
    physical: Physical;
    syncer: string;
    former: Former;
    unreadable: Unreadable;
    ruled: Ruled;
    seen: Seen;
    signal: AbortSignal;
  }) {
    this.#client = options.client;
    this.#physical = options.physical;
    this.#syncer = options.syncer;
    this.#former = options.former;
    this.#unreadable = options.unreadable;
    this.#ruled = options.ruled;
    this.#seen = options.seen;
    this.#signal = options.signal;
  }

  /** Undefined: not made by anything of ours. */
  async rootOf(pod: KubeObject): Promise<Root | Unknown | undefined> {
    const namespace = pod.metadata.namespace ?? '';
    let link: Link | undefined = { owner: controllerOf(pod), object: pod };
    for (let hop = 0; link?.owner && hop < maxHops; hop += 1) {
      const found = this.#ours(namespace, link.owner);
      if (found) return found;
      const unreadable = this.#kindsOf(link.owner).filter((kind) => this.#unreadable.has(kind));
      if (unreadable.length > 0) return { among: unreadable.flatMap((kind) => leadsTo(groupResource(kind))) };
      link = await this.#above(namespace, link.owner);
    }
    const target = link?.object && orphanOf(link.object, this.#syncer);
    const mark = link?.object?.metadata.annotations?.[orphanOfAnnotation];
    return target === undefined || mark === undefined ? undefined : { target, mark };
  }

  /** The workload of ours that controls it, as the logical cluster knows it. */
  ownerOf(pod: KubeObject): OwnerReference | undefined {
    const owner = controllerOf(pod);
    return owner && this.#ours(pod.metadata.namespace ?? '', owner)?.reference;
  }

  /**
   * Of the owners that are noted on a pod those that it has not got, and that are there to stay, as they are called there. That is
   * asked now: what goes is taken out of what it owned by the garbage collector there, and a cache may know of the one before the
   * other.
   */
  async missing(pod: KubeObject): Promise<OwnerReference[]> {
    const { namespace = '', ownerReferences = [] } = pod.metadata;
    const found: OwnerReference[] = [];
    for (const { kind, reference, object } of this.#noted(pod)) {
      const { name, uid } = reference;
      if (object.metadata.deletionTimestamp || ownerReferences.some((owner) => owner.uid === uid)) continue;
      const now = (await this.#physical.read(kind, namespace, name))?.metadata;
      if (now?.uid === uid && !now.deletionTimestamp) found.push(reference);
    }
    return found;
  }

  #noted(pod: KubeObject): { kind: Kind; reference: OwnerReference; object: KubeObject }[] {
    const { namespace = '' } = pod.metadata;
    return notedOwners(pod).flatMap((owner) => {
      const found = this.#kindsOf(owner).flatMap((kind) => {
        const object = this.#physical.cached(kind, namespace, owner.name);
        const locator = object && readLocator(object);
        const isIt = locator?.resource === groupResource(kind) && locator.uid === owner.uid;
        return object && isIt && this.#isSyncers(locator)
          ? [{ kind, reference: asThere(owner, formatApiVersion(kind), object), object }]
          : [];
      });
      return found.slice(0, 1);
    });
  }

  /** What of ours owns a pod there and does not control it, whether or not that is noted: notes that are made at once are one. */
  beside({ metadata: { namespace = '', ownerReferences = [] } }: KubeObject): KubeObject[] {
    return ownerReferences.flatMap((owner) =>
      owner.controller === true ? [] : (this.#copy(namespace, owner)?.object ?? []),
    );
  }

  /** Endpoints bear no owner, but the name of their Service. */
  ownsService(namespace: string, name: string): boolean {
    const service = this.#physical.cached(services, namespace, name);
    return service !== undefined && readLocator(service)?.syncer === this.#syncer;
  }

  #ours(namespace: string, owner: OwnerReference): Root | undefined {
    const found = this.#copy(namespace, owner);
    if (!found) return undefined;
    const { kind, locator } = found;
    const { kind: name, apiVersion } = { kind: kind.kind, apiVersion: formatApiVersion(kind) };
    return {
      target: targetId(kind, namespace, owner.name),
      reference: { apiVersion, kind: name, name: owner.name, uid: locator.uid, controller: true },
    };
  }

  #copy(
    namespace: string,
    owner: OwnerReference,
  ): { kind: Kind; object: KubeObject; locator: Locator } | undefined {
    const cached = (kind: Kind) => this.#physical.cached(kind, namespace, owner.name);
    const kind = this.#kindsOf(owner).find((kind) => cached(kind)?.metadata.uid === owner.uid);
    const object = kind && cached(kind);
    if (!kind || !object) return undefined;
    const locator = readLocator(object);
    if (locator?.resource !== groupResource(kind) || !this.#isSyncers(locator)) return undefined;
    return { kind, object, locator };
  }

  /** What is taken over gets its new locator one by one; its pods go on to be shown. */
  #isSyncers({ syncer }: Locator): boolean {
    return syncer === this.#syncer || this.#former.has(syncer);
  }

  /** What the owner may be of: one kind that the code knows, or whichever are called so by a rule. */
  #kindsOf(owner: OwnerReference): readonly Kind[] {
    const known = knownKind(owner);
    return known ? [known] : this.#ruled(parseApiVersion(owner.apiVersion).group, owner.kind);
  }

  async #above(namespace: string, owner: OwnerReference): Promise<Link | undefined> {
    const known = this.#between.get(owner.uid);
    if (known && this.#ours(namespace, known)) return { owner: known };
    this.#between.delete(owner.uid);
    const [kind] = this.#kindsOf(owner);
    if (!kind || above[groupResource(kind)] === undefined) return undefined;
    const seen = this.#seen(kind, namespace, owner.name);
    const controller = seen?.metadata.uid === owner.uid ? controllerOf(seen) : undefined;
    // One that has none, or a stranger's, may have been orphaned or adopted since.
    if (controller && this.#ours(namespace, controller)) return { owner: controller };
    try {
      const object = await this.#client.get(kind, { namespace, name: owner.name }, this.#signal);
      if (object.metadata.uid !== owner.uid) return undefined;
      const above = controllerOf(object);
      if (this.#between.size >= maxKnown) this.#between.clear();
      if (above) this.#between.set(owner.uid, above);
      return { owner: above, object };
    } catch (error) {
      if (!isMissing(error, owner.name)) throw error;
      return undefined;
    }
  }
}

type Kind = ResourceRef & { kind: string };
/** What the resources of a kind are called that the code does not know. */
type Ruled = (group: string, kind: string) => readonly Kind[];
/** As what shows its kind has seen it last; undefined where that knows nothing of it. */
type Seen = (kind: Kind, namespace: string, name: string) => KubeObject | undefined;

function leadsTo(kind: string): string[] {
  const next = above[kind];
  return next === undefined ? [kind] : [kind, next];
}

/** Undefined for one that the code does not know. */
export function knownKind({ apiVersion, kind }: OwnerReference): PlacedKind | undefined {
  const { group } = parseApiVersion(apiVersion);
  return placedKinds.find((one) => one.kind === kind && one.group === group);
}

/** An owner as it is called there, which this object is. */
export function asThere(owner: OwnerReference, apiVersion: string, { metadata }: KubeObject): OwnerReference {
  const { kind, name, blockOwnerDeletion } = owner;
  const uid = metadata.uid ?? '';
  return { apiVersion, kind, name, uid, ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }) };
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** The uid of what controls it: to find by. */
export function controlledBy(object: KubeObject): string[] {
  const controller = controllerOf(object);
  return controller ? [controller.uid] : [];
}
