import { sameJson } from '../deep.ts';
import { validateDns1123Subdomain, validatePathSegmentName } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector, selects } from './labels.ts';

const group = 'rbac.authorization.k8s.io';

function policyRule(rule: JsonObject, namespaced: boolean, field: Field): void {
  const size = (name: string) => strings(rule[name]).length;
  if (size('verbs') === 0) field.child('verbs').required('verbs must contain at least one value');
  if (size('nonResourceURLs') > 0) {
    const path = field.child('nonResourceURLs');
    const urls = rule['nonResourceURLs'];
    if (namespaced) path.invalid(urls, 'namespaced rules cannot apply to non-resource URLs');
    if (size('apiGroups') + size('resources') + size('resourceNames') > 0) {
      path.invalid(urls, 'rules cannot apply to both regular resources and non-resource URLs');
    }
    return;
  }
  if (size('apiGroups') === 0)
    field.child('apiGroups').required('resource rules must supply at least one api group');
  if (size('resources') === 0)
    field.child('resources').required('resource rules must supply at least one resource');
}

function role(namespaced: boolean): KindCheck {
  return ({ object }, root) => {
    for (const [index, rule] of records(object['rules']).entries()) {
      policyRule(rule, namespaced, root.child('rules').index(index));
    }
    const aggregation = object['aggregationRule'];
    if (!isRecord(aggregation)) return;
    const selectors = records(aggregation['clusterRoleSelectors']);
    const path = root.child('aggregationRule', 'clusterRoleSelectors');
    if (selectors.length === 0)
      path.required('at least one clusterRoleSelector required if aggregationRule is non-nil');
    for (const [index, selector] of selectors.entries()) {
      labelSelector(selector, path.index(index));
      if (selects(selector, {}) === undefined) path.index(index).invalid(null, 'invalid label selector.');
    }
  };
}

function subject(one: JsonObject, namespaced: boolean, field: Field): void {
  const name = text(one['name']);
  const kind = text(one['kind']);
  const apiGroup = text(one['apiGroup']);
  if (!name) field.child('name').required();
  if (kind === 'ServiceAccount') {
    if (name) field.child('name').invalidAll(name, validateDns1123Subdomain(name));
    if (apiGroup) field.child('apiGroup').notSupported(apiGroup, ['']);
    if (!namespaced && !text(one['namespace'])) field.child('namespace').required();
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) field.child('apiGroup').notSupported(apiGroup, [group]);
  } else field.child('kind').notSupported(kind, ['ServiceAccount', 'User', 'Group']);
}

function binding(namespaced: boolean): KindCheck {
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return ({ object, old }, root) => {
    const ref = record(object['roleRef']);
    const field = root.child('roleRef');
    if (ref['apiGroup'] !== group) field.child('apiGroup').notSupported(text(ref['apiGroup']), [group]);
    const kind = text(ref['kind']);
    if (!kinds.includes(kind)) field.child('kind').notSupported(kind, kinds);
    const name = text(ref['name']);
    if (!name) field.child('name').required();
    else field.child('name').invalidAll(name, validatePathSegmentName(name));
    for (const [index, one] of records(object['subjects']).entries()) {
      subject(one, namespaced, root.child('subjects').index(index));
    }
    if (old && !sameJson(ref, at(old, 'roleRef'))) {
      field.invalid({ APIGroup: text(ref['apiGroup']), Kind: kind, Name: name }, 'cannot change roleRef');
    }
  };
}

export const rbacChecks: KindChecks = {
  [`${group}/Role`]: role(true),
  [`${group}/ClusterRole`]: role(false),
  [`${group}/RoleBinding`]: binding(true),
  [`${group}/ClusterRoleBinding`]: binding(false),
};
