import { type NodeAsk, nodeAskOf, nodeMisfit, withMisfit } from '../cluster/node-fit.ts';
import { podTemplate } from '../cluster/pod-spec.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import type { Candidate } from './filter.ts';
import type { Situation } from './judge.ts';

const asks = perObject((workload: KubeObject): NodeAsk | undefined =>
  nodeAskOf(podTemplate(workload).spec, workload.kind === 'Pod'),
);

/** Why no node of a cluster is one for its pods, by name; undefined where they ask nothing of their nodes. */
export function misfitOf(workload: KubeObject, clusters: Situation['clusters']): Situation['misfit'] {
  const ask = asks(workload);
  return ask && ((name) => nodeMisfit(ask, clusters.get(name)?.status?.nodeLabels));
}

/**
 * Of those that take it, the ones on which a node is one for its pods; where there are none, all: nodes may come when pods wait for
 * them. `passed`: the others, with why.
 */
export function preferNodes(
  from: readonly Candidate[],
  { misfit }: Situation,
): { preferred: readonly Candidate[]; passed: ReadonlyMap<string, string> } {
  const passed = new Map(
    (misfit ? from : []).flatMap(({ name }) => {
      const why = misfit?.(name);
      return why === undefined ? [] : [[name, why] as const];
    }),
  );
  if (passed.size === 0 || passed.size === from.length) return { preferred: from, passed: new Map() };
  return { preferred: from.filter(({ name }) => !passed.has(name)), passed };
}

/** With what is to be said of where it is to be all the same. */
export function butForNodes(
  reasons: Readonly<Record<string, string>>,
  clusters: readonly string[],
  misfit: Situation['misfit'],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reasons).map(([name, why]) => [
      name,
      withMisfit(why, clusters.includes(name) ? misfit?.(name) : undefined),
    ]),
  );
}
