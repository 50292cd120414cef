import type { PlacementInformer } from '../client/placements.ts';
import { keyOf, parseKey } from '../client/url.ts';
import { logicalClusterAnnotation } from '../cluster/names.ts';
import { placementName } from '../cluster/placement.ts';
import { podRefusal } from '../cluster/pod-admission.ts';
import type { Placement } from '../cluster/types.ts';
import type { EventRecorder } from '../controller/events.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { type LookOptions, lookAt } from './look.ts';
import type { Split } from './split.ts';
import { joining, wordsOf } from './words.ts';
import { rootOf, type World } from './world.ts';
import { asWritten } from './write.ts';

/** A Placement as it is to be made, with the first word of the splitter in it. */
export interface Begun {
  placement: Placement;
  /** To be said of its object once it is made. */
  made(): void;
  /** It is not. */
  failed(): void;
}

/** Undefined: it is made without, and the splitter speaks when it sees it. */
export type Begin = (cluster: string, placement: Placement) => Begun | undefined;

export interface Surroundings extends LookOptions {
  spoken: Pick<PlacementInformer, 'said'>;
  recorder: Pick<EventRecorder, 'say'>;
}

/**
 * How Placements begin that somebody is about to make: a Deployment that is new, and has nothing to wait for, is told its shares with
 * what it is made with, in one write. What is decided is what the splitter would decide as soon as it saw it, by the same function.
 */
export class Beginnings {
  /** By key, until they are seen: by what they were decided. */
  readonly #underWay = new Map<string, { root: KubeObject; shares: object }>();

  of(cluster: string, placement: Placement, around: Surroundings): Begun | undefined {
    const { spec } = placement;
    const { namespace = '', name = '' } = placement.metadata;
    const key = keyOf(cluster, namespace, name);
    const { world } = around;
    if (!spec || spec.shares || world.placements.get(key) || around.spoken.said(key).size > 0)
      return undefined;
    const root = rootOf(world, key, spec);
    if (root?.kind !== 'Deployment' || root.metadata.uid !== spec.ref.uid) return undefined;
    if (root.metadata.deletionTimestamp !== undefined) return undefined;
    if (podRefusal(root) !== undefined || !isAwaited(world, key, placement)) return undefined;
    const { outcome, copying } = lookAt(key, within(placement, cluster), root, around);
    if (copying || !isPlain(outcome, spec.clusters)) return undefined;
    this.#underWay.set(key, { root, shares: outcome.shares });
    // Where it comes to is told by whoever makes it.
    const words = wordsOf(placement, outcome.shares, outcome.hold).filter(({ reason }) => reason !== joining);
    return {
      placement: asWritten(placement, { ...outcome, scale: undefined }),
      made: () => around.recorder.say({ cluster, namespace, ...spec.ref }, words),
      failed: () => this.#underWay.delete(key),
    };
  }

  /** Of one that has just come: whether nothing is new of it. */
  isForeseen(key: string, { spec, status }: Placement, root: KubeObject | undefined): boolean {
    const begun = this.#underWay.get(key);
    if (!begun) return false;
    this.#underWay.delete(key);
    return status?.clusters === undefined && begun.root === root && deepEqual(spec?.shares, begun.shares);
  }
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
function isPlain({ shares, scale, stale, hold }: Split, clusters: readonly string[]): boolean {
  const phases = Object.values(shares).map(({ phase }) => phase);
  const isThere = deepEqual(Object.keys(shares).sort(), [...clusters].sort());
  const isHeld = hold.held.length > 0 || hold.without.length > 0;
  return (
    phases.length > 0 &&
    isThere &&
    phases.every((phase) => phase === 'Joining') &&
    !scale &&
    !isHeld &&
    stale.length === 0
  );
}

/** As the cache will have it. */
function within(placement: Placement, cluster: string): Placement {
  const annotations = { ...placement.metadata.annotations, [logicalClusterAnnotation]: cluster };
  return { ...placement, metadata: { ...placement.metadata, annotations } };
}
