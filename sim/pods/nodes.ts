import type { Node, NodeSelectorTerm, PodSpec, Taint, Toleration } from '../types.ts';

/** Of its node affinity the names alone count. */
export function selects(spec: PodSpec | undefined, node: Node): boolean {
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = spec?.affinity?.nodeAffinity ?? {};
  const terms = required?.nodeSelectorTerms ?? [];
  if (terms.length > 0 && !terms.some((term) => isNamed(term, node))) return false;
  return Object.entries(spec?.nodeSelector ?? {}).every(
    ([key, value]) => node.metadata.labels?.[key] === value,
  );
}

function isNamed({ matchFields = [] }: NodeSelectorTerm, { metadata: { name = '' } }: Node): boolean {
  return matchFields.every(({ operator, values = [] }) => values.includes(name) === (operator === 'In'));
}

/** The first taint that keeps the pod away. `also`: tolerations that it has without saying so. */
export function repelledBy(
  spec: PodSpec | undefined,
  node: Node,
  also: readonly Toleration[] = [],
): Taint | undefined {
  const tolerations = [...(spec?.tolerations ?? []), ...also];
  return node.spec?.taints?.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  );
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
}
