import type { PlacementInformer } from '../client/placements.ts';
import { keyOf, parseKey } from '../client/url.ts';
import { logicalClusterAnnotation } from '../cluster/names.ts';
import { placementName } from '../cluster/placement.ts';
import { podRefusal } from '../cluster/pod-admission.ts';
import type { Placement } from '../cluster/types.ts';
import type { EventRecorder } from '../controller/events.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { comesToMore } from './foreseen.ts';
import { type LookOptions, lookAt } from './look.ts';
import type { Split } from './split.ts';
import { joining, wordsOf } from './words.ts';
import { rootOf, type World } from './world.ts';
import { asWritten } from './write.ts';

/** A Placement as it is to be written, with the next word of the splitter in it. */
export interface Begun {
  placement: Placement;
  /** To be said of its object once it is written. */
  made(): void;
  /** It is not. */
  failed(): void;
}

/** `old`: as it is; none where it is to be made. Undefined: it is written without, and the splitter speaks when it sees it. */
export type Begin = (cluster: string, placement: Placement, old?: Placement) => Begun | undefined;

/** Of more clusters the shares take longer than where it is to be, for which others wait. */
const mostAtOnce = 8;

export interface Surroundings extends LookOptions {
  spoken: Pick<PlacementInformer, 'said'>;
  recorder: Pick<EventRecorder, 'say'>;
}

/**
 * How Placements begin that somebody is about to make, and go on that somebody is about to send elsewhere: a Deployment that has nothing to
 * wait for is told its shares with where it is to be, in one write. What is decided is what the splitter would decide as soon as it saw it, by
 * the same function.
 */
export class Beginnings {
  /** By key, until they are seen: by what they were decided. */
  readonly #underWay = new Map<string, { root: KubeObject; shares: object; said: object | undefined }>();

  of(cluster: string, placement: Placement, around: Surroundings, old?: Placement): Begun | undefined {
    return old ? this.#goingOn(cluster, placement, old, around) : this.#new(cluster, placement, around);
  }

  #new(cluster: string, placement: Placement, around: Surroundings): Begun | undefined {
    const { spec } = placement;
    const { namespace = '', name = '' } = placement.metadata;
    const key = keyOf(cluster, namespace, name);
    const { world } = around;
    if (!spec || spec.shares || world.placements.get(key) || around.spoken.said(key).size > 0)
      return undefined;
    const root = plainRoot(world, key, placement);
    if (!root) return undefined;
    const { outcome, copying } = lookAt(key, within(placement, cluster), root, around);
    if (copying || !isPlain(outcome, spec.clusters)) return undefined;
    this.#underWay.set(key, { root, shares: outcome.shares, said: undefined });
    // Where it comes to is told by whoever makes it.
    const words = wordsOf(placement, outcome.shares, outcome.hold).filter(({ reason }) => reason !== joining);
    return {
      placement: asWritten(placement, { ...outcome, scale: undefined }),
      made: () => around.recorder.say({ cluster, namespace, ...spec.ref }, words),
      failed: () => this.#underWay.delete(key),
    };
  }

  /** It comes to more clusters, beside those that it is on, which change in nothing but how they roll; decided by `old`, which the splitter sees, too. */
  #goingOn(cluster: string, placement: Placement, old: Placement, around: Surroundings): Begun | undefined {
    const { spec, status } = placement;
    const { namespace = '', name = '', resourceVersion } = old.metadata;
    const key = keyOf(cluster, namespace, name);
    const { world } = around;
    if (!spec?.shares || spec.scale || spec.orphaned !== undefined) return undefined;
    if (spec.clusters.length > mostAtOnce) return undefined;
    if (world.placements.get(key)?.metadata.resourceVersion !== resourceVersion) return undefined;
    const root = plainRoot(world, key, placement);
    if (!root) return undefined;
    const { outcome, copying } = lookAt(key, placement, root, around);
    const written = asWritten(placement, { ...outcome, scale: undefined });
    if (copying || !isUnbound(outcome) || !comesToMore(written, placement)) return undefined;
    this.#underWay.set(key, { root, shares: outcome.shares, said: status?.clusters });
    const words = wordsOf(placement, outcome.shares, outcome.hold);
    return {
      placement: written,
      made: () => around.recorder.say({ cluster, namespace, ...spec.ref }, words),
      failed: () => this.#underWay.delete(key),
    };
  }

  /** Of one that has just come, or changed: whether nothing is new of it. */
  isForeseen(key: string, { spec, status }: Placement, root: KubeObject | undefined): boolean {
    const begun = this.#underWay.get(key);
    if (!begun) return false;
    this.#underWay.delete(key);
    const isAsSaid = deepEqual(status?.clusters, begun.said);
    return isAsSaid && begun.root === root && deepEqual(spec?.shares, begun.shares);
  }
}

/** Its object, where that is a Deployment which nothing keeps from being told its shares at once. */
function plainRoot(world: World, key: string, placement: Placement): KubeObject | undefined {
  const { spec } = placement;
  const root = spec && rootOf(world, key, spec);
  if (root?.kind !== 'Deployment' || root.metadata.uid !== spec?.ref.uid) return undefined;
  if (root.metadata.deletionTimestamp !== undefined || podRefusal(root) !== undefined) return undefined;
  return isAwaited(world, key, placement) ? root : undefined;
}

/** What it requires is told its shares before it. */
function isAwaited({ placements }: World, key: string, { spec }: Placement): boolean {
  const { cluster, namespace } = parseKey(key);
  return (spec?.requires ?? []).every((ref) => {
    const there = placements.get(keyOf(cluster, namespace, placementName(ref)))?.spec?.shares ?? {};
    return spec?.clusters.every((name) => there[name] !== undefined && there[name].phase !== 'Leaving');
  });
}

/** It comes to where it is to be, and nothing else. */
function isPlain(outcome: Split, clusters: readonly string[]): boolean {
  const { shares } = outcome;
  const phases = Object.values(shares).map(({ phase }) => phase);
  const isThere = deepEqual(Object.keys(shares).sort(), [...clusters].sort());
  return phases.length > 0 && isThere && phases.every((phase) => phase === 'Joining') && isUnbound(outcome);
}

/** Nobody holds it, or scales it, and nothing has to go before. */
function isUnbound({ scale, stale, hold }: Split): boolean {
  const isHeld = hold.held.length > 0 || hold.without.length > 0;
  return !scale && !isHeld && stale.length === 0;
}

/** As the cache will have it. */
function within(placement: Placement, cluster: string): Placement {
  const annotations = { ...placement.metadata.annotations, [logicalClusterAnnotation]: cluster };
  return { ...placement, metadata: { ...placement.metadata, annotations } };
}
