import type { Json, KubeObject } from '../object.ts';
import { type LabelSelector, labelSelectorFromObject } from '../selector.ts';
import { at, listAt } from '../untyped.ts';
import { canonicalRule } from './rule.ts';

/** Whether a ClusterRole's rules are those of others. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles */
export function aggregates(role: KubeObject): boolean {
  return at(role, 'aggregationRule') !== undefined && at(role, 'aggregationRule') !== null;
}

/** Whether any of a ClusterRole's selectors selects these labels. */
export function selectsLabels(
  role: KubeObject,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selectorsOf(role).some((selector) => selector.matches(labels ?? {}));
}

/** The rules that a ClusterRole has of the others: by selector, then by name, each once. */
export function aggregatedRules(role: KubeObject, all: readonly KubeObject[]): Json[] {
  const others = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const rules: Json[] = [];
  const known = new Set<string>();
  for (const selector of selectorsOf(role)) {
    for (const other of others) {
      if (!selector.matches(other.metadata.labels ?? {})) continue;
      for (const rule of listAt(other, 'rules') as Json[]) {
        const key = canonicalRule(rule);
        if (!known.has(key)) rules.push(rule);
        known.add(key);
      }
    }
  }
  return rules;
}

function selectorsOf(role: KubeObject) {
  return listAt(role, 'aggregationRule', 'clusterRoleSelectors').map((selector) =>
    labelSelectorFromObject(selector as LabelSelector),
  );
}
