import { isRecord } from '../kube/untyped.ts';
import { logicalClusterLabel } from './names.ts';

type Spec = Record<string, unknown>;

/**
 * A NetworkPolicy's spec that speaks of the namespaces of its own logical cluster, and of those on the physical cluster
 * that are nobody's here (its DNS, its ingress controller), but never of another logical cluster's, whatever that
 * labels its own. https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function amongNeighbours(spec: Spec, logicalCluster: string): Spec {
  const rules = (list: unknown, field: 'from' | 'to') =>
    Array.isArray(list)
      ? list.map((rule) =>
          isRecord(rule) && Array.isArray(rule[field])
            ? { ...rule, [field]: rule[field].flatMap((peer) => peersOf(peer, logicalCluster)) }
            : rule,
        )
      : list;
  return {
    ...spec,
    ...(spec['ingress'] !== undefined && { ingress: rules(spec['ingress'], 'from') }),
    ...(spec['egress'] !== undefined && { egress: rules(spec['egress'], 'to') }),
  };
}

function peersOf(peer: unknown, logicalCluster: string): unknown[] {
  const selector = isRecord(peer) ? peer['namespaceSelector'] : undefined;
  if (!isRecord(peer) || !isRecord(selector)) return [peer];
  const given = Array.isArray(selector['matchExpressions']) ? selector['matchExpressions'] : [];
  const key = logicalClusterLabel;
  return [
    { key, operator: 'In', values: [logicalCluster] },
    { key, operator: 'DoesNotExist' },
  ].map((one) => ({
    ...peer,
    namespaceSelector: { ...selector, matchExpressions: [...given, one] },
  }));
}
