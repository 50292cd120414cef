import type { OnDemandInformer } from '../client/on-demand.ts';
import { keyOf } from '../client/url.ts';
import { notedOwners } from '../cluster/given-owners.ts';
import { locatorText } from '../cluster/locator.ts';
import { releasedByAnnotation, rootCluster } from '../cluster/names.ts';
import type { Retry } from '../controller/controller.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { textAt } from '../kube/untyped.ts';
import type { Engine, RunningPods } from './engine.ts';
import { carryOwners, keeperOf } from './given-owners.ts';
import { Looked } from './looked.ts';
import { markAs, orphanOf } from './orphans.ts';
import { controllerOf, type Owners, type Root, type Unknown } from './owners.ts';
import { readLocator } from './ownership.ts';
import { ownerMayCome, type Place, reflectedMetadata, unknownMs } from './reflected.ts';
import { Reflector } from './reflector.ts';
import { parseTarget, type TargetId } from './target.ts';
import { Unplaced } from './unplaced.ts';

const maxPodBytes = 240 << 10;
/** What it stands under is on its way up, and tells when it is there: see Reflector.onShown. */
const ownerMs = 1_000;
const pods = { group: '', version: 'v1', resource: 'pods' };
/** By physical namespace, pods to which somebody gave more owners than what controls them. */
const givenIn = 'given-in';

/** Pods of our workloads, reflected; and how many of each workload's are left. */
export class PodReflector {
  readonly #engine: Engine;
  readonly #owners: Owners;
  readonly #between: ReadonlyMap<string, Reflector>;
  readonly reflector: Reflector;
  readonly #roots = new Map<string, Root & { uid: string | undefined }>();
  readonly #byRoot = new Map<TargetId, Set<string>>();
  readonly #looked = new Looked((key) => this.#object(key));
  readonly #unplaced = new Unplaced();

  /** `between`: by kind, those that may stand between a workload and its pods. */
  constructor(engine: Engine, owners: Owners, between: ReadonlyMap<string, Reflector>) {
    this.#engine = engine;
    this.#owners = owners;
    this.#between = between;
    this.reflector = new Reflector(engine, 'pods', (key, pod, place) => this.#reflect(key, pod, place));
    for (const one of between.values()) one.onShown = (uid) => void this.controllerCame(uid);
    this.informer.addIndex('given', (pod) => notedOwners(pod).map(({ uid }) => uid));
    // Of nodes.ts.
    this.informer.addIndex('namespace', ({ metadata: { namespace } }) => (namespace ? [namespace] : []));
    this.informer.addIndex(givenIn, (pod) => (hasGivenOwners(pod) ? [pod.metadata.namespace ?? ''] : []));
    const changed = ({ metadata: of }: KubeObject) => this.#looked.changed(`${of.namespace}/${of.name}`);
    this.informer.on({ add: changed, delete: changed });
  }

  get informer(): OnDemandInformer {
    return this.reflector.informer;
  }

  /** True also where nobody knows. */
  hasPods(id: TargetId): boolean {
    if (this.#engine.unreadable.has(pods) || (this.#byRoot.get(id)?.size ?? 0) > 0) return true;
    return this.running(id, parseTarget(id).namespace) === undefined;
  }

  /**
   * Its pods that are there and have not ended, terminating ones too, with their ordinals where all have one;
   * undefined while that is not known: pods have come or gone that nobody has looked at yet, or
   * that may be its own, or what is known of pods may be old.
   */
  running(id: TargetId, namespace: string): RunningPods | undefined {
    if (!this.reflector.isCurrent) return undefined;
    const [kind = ''] = id.split('/');
    if (!this.#looked.isAll(namespace, kind)) return undefined;
    const names = [...(this.#byRoot.get(id) ?? [])].filter((key) => {
      const phase = textAt(this.#object(key), 'status', 'phase');
      return phase !== 'Succeeded' && phase !== 'Failed';
    });
    const ordinals = names.map((name) => Number(/-(\d+)$/.exec(name)?.[1] ?? Number.NaN));
    if (ordinals.length === 0 || ordinals.some(Number.isNaN)) return { count: names.length };
    const range = { start: Math.min(...ordinals), end: Math.max(...ordinals) + 1 };
    return { count: names.length, ordinals: range };
  }

  /** Why a pod of it has no node there. */
  unplaced(id: TargetId): string | undefined {
    return this.#unplaced.why(id);
  }

  /**
   * The uid up there of the pod at `<physical namespace>/<name>`: of a placed Pod its own, of another the reflection's.
   * Undefined: nothing is shown of it.
   */
  shownUid(key: string, uid: string | undefined): string | 'pending' | undefined {
    const pod = this.#object(key);
    if (!pod) return undefined;
    if (uid !== undefined && pod.metadata.uid !== uid) return 'pending';
    const locator = readLocator(pod);
    if (locator) return locator.syncer === this.#engine.uid ? locator.uid : undefined;
    return this.reflector.isPending(key) ? 'pending' : this.reflector.uidOf(key);
  }

  #object(key: string): KubeObject | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.informer.get(keyOf(rootCluster, namespace, name));
  }

  heardAgain(): void {
    this.reflector.heardAgain();
  }

  controllerCame(uid: string): string[] {
    return this.reflector.controllerCame(uid);
  }

  /** An owner, by its uid up there, is there that may have been given to pods before. */
  ownerCame(uid: string): void {
    for (const pod of this.informer.byIndex('given', uid)) this.reflector.lookAgain(pod);
  }

  /** See givenIn. */
  withGivenOwners(namespace: string): KubeObject[] {
    return this.informer.byIndex(givenIn, namespace);
  }

  run(ready: readonly Promise<unknown>[]): Promise<void> {
    return this.reflector.run(ready);
  }

  async #reflect(
    key: string,
    pod: KubeObject | undefined,
    place: Place | undefined,
  ): Promise<KubeObject | Retry | undefined> {
    // A placed Pod is itself the object that stands upstream.
    const isMade = pod && place && !readLocator(pod);
    if (isMade) await carryOwners(this.#engine, this.#owners, pod);
    if (isMade && ((await this.#isReleased(key, pod)) || (await this.#isGivenAway(key, pod)))) {
      this.#count(key, undefined, pod.metadata.uid);
      return reflection(pod, {}, undefined);
    }
    const root = isMade ? await this.#rootOf(key, pod) : undefined;
    if (root && 'among' in root) {
      this.#count(key, this.#knownRoot(key, pod), pod?.metadata.uid);
      if (!this.#roots.has(key)) this.#looked.isOfSome(key, root.among);
      return { after: unknownMs };
    }
    this.#count(key, root, pod?.metadata.uid);
    if (!pod || !place || readLocator(pod)) return undefined;
    if (!root) return ownerMayCome(pod);
    // Its ReplicaSet or Job may be orphaned next.
    if (root.mark !== undefined) await markAs(this.#engine, pods, pod, root.mark);
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const between = owner && this.#between.get(owner.kind);
    const [namespace = ''] = key.split('/');
    if (between?.isPending(`${namespace}/${owner?.name}`)) return { after: ownerMs };
    return reflection(pod, root, between && owner);
  }

  /**
   * Its workload's controller let it go, since it was labelled anew: it is nobody's then, as in any cluster, and still
   * shown. That is written on it, for as long as no other controller adopts it.
   */
  async #isReleased(key: string, pod: KubeObject): Promise<boolean> {
    if (controllerOf(pod)) return false;
    const { uid, physical } = this.#engine;
    if (readLocator(pod, releasedByAnnotation)?.syncer === uid) return true;
    const known = this.#roots.get(key);
    if (!known || known.uid !== pod.metadata.uid || known.mark !== undefined) return false;
    const { kind, namespace, name } = parseTarget(known.target);
    const workload = physical.cached(kind, namespace, name);
    const locator = workload && locatorText(workload);
    if (!workload || workload.metadata.deletionTimestamp || locator === undefined) return false;
    if (orphanOf(pod, uid) !== undefined) return false;
    await markAs(this.#engine, pods, pod, locator, releasedByAnnotation);
    return true;
  }

  /** Its workload is deleted, and it stays, since it has another owner, which may leave it behind in its turn. That is written on it, too. */
  async #isGivenAway(key: string, pod: KubeObject): Promise<boolean> {
    if (controllerOf(pod) || orphanOf(pod, this.#engine.uid) !== undefined) return false;
    // Of somebody else's pod it says nothing who owns it.
    if (notedOwners(pod).length === 0 && !this.#knownRoot(key, pod)) return false;
    const keeper = keeperOf(this.#owners, pod);
    if (keeper !== undefined) await markAs(this.#engine, pods, pod, keeper, releasedByAnnotation);
    return keeper !== undefined;
  }

  /** A pod may outlive its workload for a moment; it stays that workload's, until another one adopts it. */
  async #rootOf(key: string, pod: KubeObject): Promise<Root | Unknown | undefined> {
    return (await this.#owners.rootOf(pod)) ?? this.#knownRoot(key, pod);
  }

  #knownRoot(key: string, pod: KubeObject | undefined): Root | undefined {
    const known = this.#roots.get(key);
    return known && known.uid === pod?.metadata.uid ? known : undefined;
  }

  /** Keeps the count of each workload's pods; the last one's going may let the workload's share go. */
  #count(key: string, root: Root | undefined, uid: string | undefined): void {
    this.#looked.at(key, uid);
    for (const id of this.#unplaced.at(key, root?.target, this.#object(key))) this.#engine.up.add(id);
    const before = this.#roots.get(key);
    if (before?.target === root?.target && before?.uid === uid) return;
    if (before) {
      const pods = this.#byRoot.get(before.target);
      pods?.delete(key);
      this.#engine.up.add(before.target);
      if (pods?.size === 0) {
        this.#byRoot.delete(before.target);
        this.#engine.down.add(before.target);
      }
      this.#roots.delete(key);
    }
    if (!root) return;
    this.#roots.set(key, { ...root, uid });
    this.#byRoot.set(root.target, (this.#byRoot.get(root.target) ?? new Set()).add(key));
  }
}

function hasGivenOwners(pod: KubeObject): boolean {
  const isOther = ({ controller }: OwnerReference) => controller !== true;
  return notedOwners(pod).length > 0 || pod.metadata.ownerReferences?.some(isOther) === true;
}

/** What of a physical pod goes up. One that is too large goes without its spec's bulk. */
function reflection(
  pod: KubeObject,
  root: Pick<Root, 'reference'>,
  between: OwnerReference | undefined,
): KubeObject {
  // The one between has another uid up there, which only the server knows.
  const owner = between && { ...between, uid: '' };
  const sameKind = owner?.kind === root.reference?.kind;
  const ownerReferences = [
    ...(owner && !sameKind ? [owner] : []),
    ...(root.reference ? [root.reference] : []),
    ...notedOwners(pod).map((given) => ({ ...given, controller: false })),
  ];
  const metadata = { ...reflectedMetadata(pod), ownerReferences };
  const whole = { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec, status: pod.status };
  if (Buffer.byteLength(encodeJson(whole)) <= maxPodBytes) return whole;
  const { nodeName } = (pod.spec ?? {}) as { nodeName?: unknown };
  const { phase, conditions } = (pod.status ?? {}) as { phase?: unknown; conditions?: unknown };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName, containers: [] },
    status: { phase, conditions },
  };
}
