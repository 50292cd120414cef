import { deepEqual } from '../deep.ts';
import type { Json, KubeObject } from '../object.ts';
import { listAt } from '../untyped.ts';
import { missingRules } from './covers.ts';
import { type PolicyRule, rulesOf } from './rule.ts';

const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate';

/**
 * A default role or binding as somebody has it, with what a new version's has besides: rules, selectors, subjects, labels
 * and annotations are added, none is taken away. The object itself where nothing is missing, or where its
 * annotation says that it is to stay. A binding to another role is left.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#auto-reconciliation
 */
export function reconciled(have: KubeObject, want: KubeObject): KubeObject {
  if (have.metadata.annotations?.[autoupdate] === 'false') return have;
  if (want['roleRef'] !== undefined && !deepEqual(have['roleRef'], want['roleRef'])) return have;
  const labels = { ...want.metadata.labels, ...have.metadata.labels };
  const annotations = { ...want.metadata.annotations, ...have.metadata.annotations };
  const next: KubeObject = { ...have, metadata: { ...have.metadata, labels, annotations } };
  if (want['aggregationRule'] !== undefined) addSelectors(next, have, want);
  else addRules(next, have, want);
  addSubjects(next, have, want);
  return deepEqual(next, have) ? have : next;
}

/** The rules of such a one are those of others. */
function addSelectors(next: KubeObject, have: KubeObject, want: KubeObject): void {
  const there = listAt(have, 'aggregationRule', 'clusterRoleSelectors') as Json[];
  const selectors = listAt(want, 'aggregationRule', 'clusterRoleSelectors') as Json[];
  const missing = selectors.filter((one) => !there.some((other) => deepEqual(one, other)));
  if (missing.length > 0) next['aggregationRule'] = { clusterRoleSelectors: [...there, ...missing] };
}

function addRules(next: KubeObject, have: KubeObject, want: KubeObject): void {
  const missing = missingRules(rulesOf(have), rulesOf(want)) ?? [];
  if (missing.length > 0) next['rules'] = [...(listAt(have, 'rules') as Json[]), ...missing.map(written)];
}

function addSubjects(next: KubeObject, have: KubeObject, want: KubeObject): void {
  const there = listAt(have, 'subjects') as Json[];
  const missing = (listAt(want, 'subjects') as Json[]).filter(
    (one) => !there.some((other) => deepEqual(one, other)),
  );
  if (missing.length > 0) next['subjects'] = [...there, ...missing];
}

/** As JSON has it: what a rule does not say is left out. */
function written(rule: PolicyRule): Json {
  return Object.fromEntries(Object.entries(rule).filter(([, list]) => list.length > 0)) as Json;
}
