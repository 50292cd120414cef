import type { KubeObject } from '../kube/object.ts';
import { getOwn, numberAt } from '../kube/untyped.ts';
import { volumesAnnotation } from './names.ts';
import type { PlacementSpec } from './types.ts';

/**
 * hold: claims that hold data keep a workload where they are. recreate: it goes without, and claims are made anew. copy: it goes
 * when a copier has brought their data along.
 */
export type Volumes = (typeof volumesWords)[number];

export const volumesWords = ['hold', 'recreate', 'copy'] as const;

const words: readonly string[] = volumesWords;

export function volumesFault(value: string): string | undefined {
  return words.includes(value) ? undefined : 'must be "hold", "recreate" or "copy"';
}

/** As the first says it that says anything in order: a claim, what uses it, the Namespace. */
export function volumesOf(...said: readonly (KubeObject | undefined)[]): Volumes {
  return volumesSaid(...said) ?? 'hold';
}

/** Undefined: nobody says anything. */
export function volumesSaid(...said: readonly (KubeObject | undefined)[]): Volumes | undefined {
  for (const object of said) {
    const value = getOwn(object?.metadata.annotations ?? {}, volumesAnnotation);
    if (value !== undefined && words.includes(value)) return value as Volumes;
  }
  return undefined;
}

/**
 * It is where it should be, nowhere else, in full, and counted on there: as far as its shares say. Until then what it left
 * elsewhere may be all there is of it; so of what has no replicas, of which nothing shows that it would run there.
 */
export function isInPlace({ clusters, shares = {} }: PlacementSpec, workload: KubeObject): boolean {
  const all = Object.entries(shares);
  const isAll = all.length > 0 && all.length === clusters.length;
  const isSettled = all.every(
    ([name, share]) =>
      clusters.includes(name) &&
      share.phase === 'Active' &&
      share.held === undefined &&
      share.goal === undefined,
  );
  if (!isAll || !isSettled) return false;
  if (all.every(([, { replicas }]) => replicas === undefined)) return true;
  const there = all.reduce((sum, [, { replicas = 0 }]) => sum + replicas, 0);
  return there > 0 && there >= (numberAt(workload, 'spec', 'replicas') ?? 1);
}
