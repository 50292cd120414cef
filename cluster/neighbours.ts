import { isRecord, listAt } from '../kube/untyped.ts';
import { logicalClusterLabel, managedLabel } from './names.ts';
import { keyThere } from './namespace-labels.ts';

type Spec = Record<string, unknown>;

/**
 * A NetworkPolicy's spec that speaks of the namespaces of its own logical cluster, by the labels that the user gave them,
 * and of those on the physical cluster that are nobody's here (its DNS, its ingress controller), by the labels that they
 * have there, but never of another logical cluster's. https://kubernetes.io/docs/concepts/services-networking/network-policies/
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
  return [ownNamespaces(selector, logicalCluster), nobodys(selector)].map((namespaceSelector) => ({
    ...peer,
    namespaceSelector,
  }));
}

/** Of the namespaces of one logical cluster those that the selector means there. */
function ownNamespaces(selector: Spec, logicalCluster: string): Spec {
  const { matchLabels } = selector;
  const labels = isRecord(matchLabels) ? Object.entries(matchLabels) : [];
  const expressions = listAt(selector, 'matchExpressions').map((one) =>
    isRecord(one) && typeof one['key'] === 'string' ? { ...one, key: keyThere(one['key']) } : one,
  );
  const own = { key: logicalClusterLabel, operator: 'In', values: [logicalCluster] };
  return {
    ...(labels.length > 0 && {
      matchLabels: Object.fromEntries(labels.map(([key, value]) => [keyThere(key), value])),
    }),
    matchExpressions: [...expressions, own],
  };
}

function nobodys(selector: Spec): Spec {
  // Each of ours bears the second from its birth on, the first as soon as it is told to.
  const isNobodys = [logicalClusterLabel, managedLabel].map((key) => ({ key, operator: 'DoesNotExist' }));
  return { ...selector, matchExpressions: [...listAt(selector, 'matchExpressions'), ...isNobodys] };
}
