import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import type { KindInfo } from '../kube/strategy/kind.ts';
import { at, isRecord, listAt, records, strings } from '../kube/untyped.ts';
import { validateLists } from '../kube/validation/custom/lists.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import { labelSelector } from '../kube/validation/labels.ts';
import { tolerations } from '../kube/validation/pod/affinity.ts';
import { dns1123Label, dns1123Subdomain, oneOf, positive } from '../kube/validation/rules.ts';
import { kindNamed, placedKinds } from './kinds.ts';

/** Of any one list: what people write by hand is shorter, and each is looked at for each workload. */
const longest = 1000;
const workloads = placedKinds.flatMap(({ role, kind }) => (role === 'workload' ? [kind] : []));

/** What is wrong with a policy, in kube-apiserver's words. What an update leaves as it was may stay. */
export function validatePolicy(
  { served, schema }: { served: KindInfo; schema: ObjectSchema },
  object: KubeObject,
  old: KubeObject | undefined,
): StatusCause[] {
  const causes = old ? validateUpdate(object, old, served) : validateCreate(object, served);
  const { spec } = object;
  const before = old && { spec: old.spec };
  const openapi = openapiOf(schema);
  causes.push(...validateSchema({ spec }, openapi, '', 0, before));
  if (causes.length === 0) causes.push(...validateLists({ spec }, openapi));
  if (causes.length > 0 || !isRecord(spec) || deepEqual(spec, old?.spec)) return causes;
  const field = new Field(causes).child('spec');
  validateSelector(at(spec, 'selector'), served.namespaced, field.child('selector'));
  validateClusters(at(spec, 'clusters'), field.child('clusters'));
  validateTolerations(at(spec, 'tolerations'), field.child('tolerations'));
  return causes;
}

function validateSelector(selector: unknown, namespaced: boolean, field: Field): void {
  for (const [index, { kind, group }] of records(at(selector, 'kinds')).entries()) {
    const path = field.child('kinds').index(index);
    oneOf(kind, workloads, path.child('kind'));
    const found = typeof kind === 'string' && workloads.some((name) => name === kind) && kindNamed(kind);
    if (found && group !== undefined && group !== found.group)
      path.child('group').notSupported(group, [found.group]);
  }
  names(at(selector, 'names'), field.child('names'), dns1123Subdomain);
  labelSelector(at(selector, 'labelSelector'), field.child('labelSelector'));
  for (const name of ['namespaces', 'namespaceSelector'])
    if (namespaced && at(selector, name) !== undefined)
      field
        .child(name)
        .forbidden('a PlacementPolicy is about its own Namespace; use a ClusterPlacementPolicy for others');
  names(at(selector, 'namespaces'), field.child('namespaces'), dns1123Label);
  labelSelector(at(selector, 'namespaceSelector'), field.child('namespaceSelector'));
}

function validateClusters(clusters: unknown, field: Field): void {
  const groups = listAt(clusters, 'groups').map(strings);
  const said = [...strings(at(clusters, 'names')), ...groups.flat()];
  const count = at(clusters, 'count');
  const excluded = listAt(clusters, 'exclude').length > 0;
  if (said.length === 0 && at(clusters, 'labelSelector') === undefined && !excluded && count === undefined)
    field.required('say names, groups, labelSelector, exclude or count');
  names(at(clusters, 'names'), field.child('names'), dns1123Subdomain);
  if (groups.length > 0 && listAt(clusters, 'names').length > 0)
    field.child('groups').forbidden('may not be set together with names; make them a group');
  validateGroups(groups, field.child('groups'));
  labelSelector(at(clusters, 'labelSelector'), field.child('labelSelector'));
  names(at(clusters, 'exclude'), field.child('exclude'), dns1123Subdomain);
  if (said.length > 0 && excluded)
    field.child('exclude').forbidden('may not be set together with names; leave them out of the names');
  if (count === undefined) return;
  positive(count, field.child('count'));
  if (said.length > 0 && Number(count) > said.length)
    field.child('count').invalid(count, `must not be more than the ${said.length} that are named`);
}

function validateGroups(groups: readonly string[][], field: Field): void {
  const seen = new Set<string>();
  for (const [index, group] of groups.entries()) {
    const path = field.index(index);
    if (group.length === 0) path.required('name the clusters of the group');
    names(group, path, dns1123Subdomain);
    for (const [at, name] of group.entries()) {
      if (seen.has(name)) path.index(at).duplicate(name);
      seen.add(name);
    }
  }
}

function validateTolerations(list: unknown, field: Field): void {
  tolerations(list, field);
  for (const [index, { tolerationSeconds }] of records(list).entries())
    if (tolerationSeconds !== undefined)
      field
        .index(index)
        .child('tolerationSeconds')
        .forbidden('not supported: what tolerates NoExecute does so for ever; leave it out');
}

function names(value: unknown, field: Field, rule: (name: string, field: Field) => void): void {
  const all = strings(value);
  if (all.length > longest) field.tooMany(all.length, longest);
  else for (const [index, name] of all.entries()) rule(name, field.index(index));
}
