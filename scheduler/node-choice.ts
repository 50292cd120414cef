import { labelIndex, type NodeAsk, nodeAskOf, nodeMisfit, withMisfit } from '../cluster/node-fit.ts';
import { podTemplate } from '../cluster/pod-spec.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import type { Candidate } from './filter.ts';
import type { Situation } from './judge.ts';
import { takeInOrder } from './take.ts';

const asks = perObject((workload: KubeObject): NodeAsk | undefined =>
  nodeAskOf(podTemplate(workload).spec, workload.kind === 'Pod'),
);

export function asksForNode(workload: KubeObject): boolean {
  return asks(workload) !== undefined;
}

/** A cluster has hundreds of labels, and each workload that asks for a node asks all clusters. */
const labelsOf = perObject(
  ({ status }: PhysicalCluster) => status?.nodeLabels && labelIndex(status.nodeLabels),
);

/** Why no node of a cluster is one for its pods, by name; undefined where they ask nothing of their nodes. */
export function misfitOf(workload: KubeObject, clusters: Situation['clusters']): Situation['misfit'] {
  const ask = asks(workload);
  if (!ask) return undefined;
  return (name) => {
    const cluster = clusters.get(name);
    return cluster && nodeMisfit(ask, labelsOf(cluster));
  };
}

/** Of these clusters, those on which no node is one for its pods, with why. */
export function misfitsOn(
  clusters: readonly string[],
  misfit: Situation['misfit'],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (misfit)
    for (const name of clusters) {
      const why = misfit(name);
      if (why !== undefined) found.set(name, why);
    }
  return found;
}

/**
 * Of those that take it, the ones on which a node is one for its pods; where there are none, all: nodes may come when pods wait for
 * them. `passed`: the others, with why.
 */
export function preferNodes(
  from: readonly Candidate[],
  { misfit }: Situation,
): { preferred: readonly Candidate[]; passed: ReadonlyMap<string, string> } {
  if (!misfit) return { preferred: from, passed: new Map() };
  const names = from.map(({ name }) => name);
  const passed = misfitsOn(names, misfit);
  if (passed.size === 0 || passed.size === from.length) return { preferred: from, passed: new Map() };
  return { preferred: from.filter(({ name }) => !passed.has(name)), passed };
}

/** So many of them: those on which a node is one for its pods come first. */
export function takeOnNodes(
  from: readonly Candidate[],
  most: number,
  order: Parameters<typeof takeInOrder>[2],
  situation: Situation,
): Candidate[] {
  const { preferred, passed } = preferNodes(from, situation);
  const taken = takeInOrder(preferred, most, order);
  const others = from.filter(({ name }) => passed.has(name));
  return [...taken, ...takeInOrder(others, most - taken.length, order)];
}

/** With what is to be said of where it is to be all the same. */
export function butForNodes(
  reasons: Readonly<Record<string, string>>,
  misfits: ReadonlyMap<string, string> | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reasons).map(([name, why]) => [name, withMisfit(why, misfits?.get(name))]),
  );
}
