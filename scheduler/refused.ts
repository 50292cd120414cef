import type { PhysicalCluster } from '../cluster/types.ts';
import { perObject } from '../kube/per-object.ts';
import { refusal, refusedByPolicy, type Wish } from './wishes.ts';

/** Of a situation. */
interface Among {
  clusters: ReadonlyMap<string, PhysicalCluster>;
  company?: (name: string) => string | undefined;
}

/** Of those of the names where an annotation, a policy, or for its sake another workload, does not want it: why. */
export function refusedBy(
  wish: Wish | undefined,
  names: readonly string[],
  { clusters, company }: Among,
): ReadonlyMap<string, string> {
  const isAll = wish !== undefined && names === sortedNames(clusters);
  const known = isAll ? refusedByPolicy(wish, clusters) : undefined;
  const more: [string, string][] = [];
  for (const name of known ? leftOf(names, known, { clusters }) : names) {
    const why = (!known && wish && refusal(wish, name, clusters.get(name))) || company?.(name);
    if (why !== undefined) more.push([name, why]);
  }
  return known && more.length === 0 ? known : new Map([...(known ?? []), ...more]);
}

/** Asked for each workload of a Namespace, with the same clusters. */
export const sortedNames = perObject((clusters: Among['clusters']): readonly string[] =>
  [...clusters.keys()].sort(),
);

/** Those of the names that nobody refuses. */
export function leftOf(
  names: readonly string[],
  refused: ReadonlyMap<string, string>,
  { clusters }: Among,
): readonly string[] {
  if (names === sortedNames(clusters)) return leftOfAll(clusters)(refused);
  return names.filter((name) => !refused.has(name));
}

/** Of what one policy refuses the same is asked for each workload. */
const leftOfAll = perObject((clusters: Among['clusters']) =>
  perObject((refused: ReadonlyMap<string, string>) =>
    sortedNames(clusters).filter((name) => !refused.has(name)),
  ),
);
