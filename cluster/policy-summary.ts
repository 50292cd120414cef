import type { LabelSelector } from '../kube/selector.ts';
import type { PlacementPolicy, WorkloadTerm } from './policy.ts';
import { shownSpread } from './spread.ts';

/** `Deployment,Job app=web`: what must hold of a workload that it selects; `*` for all. */
export function shownSelector({ spec }: PlacementPolicy): string {
  const { kinds = [], names = [], labelSelector, namespaces = [], namespaceSelector } = spec?.selector ?? {};
  const said = [
    kinds.map(({ kind }) => kind).join(','),
    names.join(','),
    shownLabels(labelSelector),
    among('in', namespaces.join(',')),
    among('in', shownLabels(namespaceSelector)),
  ].filter((word) => word !== '');
  return said.length > 0 ? said.join(' ') : '*';
}

/** `2 of region=eu !old`. */
export function shownClusters({ spec }: PlacementPolicy): string {
  const {
    names = [],
    groups = [],
    labelSelector,
    expression,
    exclude = [],
    count,
    spread,
    overflow,
    affinity = [],
    antiAffinity = [],
  } = spec?.clusters ?? {};
  const which = [
    names.join(','),
    groups.map((group) => group.join(',')).join(' else '),
    shownLabels(labelSelector),
    expression === undefined ? '' : `(${expression.slice(0, 60)})`,
    ...exclude.map((name) => `!${name}`),
    spread ? `over ${shownSpread(spread)}` : '',
    overflow ? 'overflowing' : '',
    ...affinity.map((term) => `beside ${shownTerm(term)}`),
    ...antiAffinity.map((term) => `apart from ${shownTerm(term)}`),
  ].filter((word) => word !== '');
  return `${count === undefined ? '' : `${count} of `}${which.length > 0 ? which.join(' ') : '*'}`;
}

function shownTerm({ labelSelector }: WorkloadTerm): string {
  return shownLabels(labelSelector) || '*';
}

function among(word: string, what: string): string {
  return what === '' ? '' : `${word} ${what}`;
}

const operators: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

/** As kubectl takes it after -l. */
export function shownLabels(selector: LabelSelector | undefined): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    return operator === 'DoesNotExist' ? `!${key}` : `${key} ${operators[operator]} (${values.join(',')})`;
  });
  return [...equal, ...others].join(',');
}
