import { kindNamed } from '../cluster/kinds.ts';
import { type PlacedSpread, replicasPerValue, shownSpread } from '../cluster/spread.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn, listAt } from '../kube/untyped.ts';
import { divide } from './divide.ts';

/** First over the values, then equally over the clusters of each. Undefined where a cluster has no value. */
export function divideSpread(
  total: number,
  clusters: readonly string[],
  current: ReadonlyMap<string, number>,
  spread: PlacedSpread,
): Map<string, number> | undefined {
  const byValue = new Map<string, string[]>();
  for (const cluster of clusters) {
    const value = getOwn(spread.values, cluster);
    if (value === undefined) return undefined;
    byValue.set(value, [...(byValue.get(value) ?? []), cluster]);
  }
  const sumOf = (names: readonly string[]) => names.reduce((sum, c) => sum + (current.get(c) ?? 0), 0);
  const there = new Map([...byValue].map(([value, names]) => [value, sumOf(names)]));
  const parts = replicasPerValue(total, spread, [...byValue.keys()], there);
  return new Map(
    [...byValue].flatMap(([value, names]) => [...divide(parts.get(value) ?? 0, names, current)]),
  );
}

/**
 * Of a StatefulSet whose clusters stay: whether its ordinals are laid out anew to be what is asked for. Only where the
 * counts are exactly of its replicas, and no claim of an ordinal would stay behind; else it grows and shrinks at its
 * end.
 */
export function isLaidOut(root: KubeObject, total: number, { replicas, values }: PlacedSpread): boolean {
  if (!replicas || listAt(root, 'spec', 'volumeClaimTemplates').length > 0) return false;
  const there = [...new Set(Object.values(values))].map((value) => getOwn(replicas, value) ?? 0);
  return there.reduce((sum, n) => sum + n, 0) === total;
}

/** What becomes of counts that are of another number of replicas; undefined: they are of this one. */
export function otherwiseDivided(root: KubeObject, total: number, spread: PlacedSpread): string | undefined {
  const counts = Object.values(spread.replicas ?? {});
  const sum = counts.reduce((all, n) => all + n, 0);
  if (counts.length === 0 || sum === total) return undefined;
  const how =
    kindNamed(root.kind)?.spread === 'ranges'
      ? 'its ordinals come and go at the end'
      : spread.order
        ? inOrderWords(total < sum)
        : 'they are divided in that proportion';
  return `${shownSpread(spread)} is of ${sum} replicas, and it has ${total}: ${how}`;
}

function inOrderWords(isLess: boolean): string {
  return isLess ? 'what came last goes first' : 'more come to where there is room, in turn';
}
