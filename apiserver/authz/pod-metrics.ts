import { podMetrics } from '../../cluster/pod-metrics.ts';
import { andThen } from '../../kube/later.ts';
import type { Authorizer } from '../plugins.ts';

const reads: readonly string[] = ['get', 'list'];

/** Who may read pods may read what they use: where metrics-server is installed, its roles say so. */
export function metricsAsPods(decide: Authorizer): Authorizer {
  return (asked) => {
    const decision = decide(asked);
    const isAsked = asked.group === podMetrics.group && asked.resource === podMetrics.resource;
    if (!isAsked || !reads.includes(asked.verb)) return decision;
    return andThen(decision, (first) => {
      if (first.allowed || first.denied || first.error !== undefined) return first;
      return andThen(decide({ ...asked, group: '', version: 'v1' }), (second) =>
        second.allowed ? second : first,
      );
    });
  };
}
