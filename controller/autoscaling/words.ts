import type { LabelSelector } from '../../kube/selector.ts';

/** A metric's selector as Kubernetes' words have it: as Go prints it. */
export function selectorWords(selector: LabelSelector | undefined): string {
  if (!selector) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = labels.map(([key, value]) => `${key}: ${value},`).join('');
  const expressions = matchExpressions
    .map(({ key, operator, values = [] }) => {
      return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`;
    })
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${shown}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}
