import { deepEqual } from '../kube/deep.ts';
import { validateLabelValue } from '../kube/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import { builtinResources } from '../kube/schema/builtin.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import type { KindInfo } from '../kube/strategy/kind.ts';
import { at, isRecord, listAt, record, records, strings, text } from '../kube/untyped.ts';
import { validateLists } from '../kube/validation/custom/lists.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import { labelSelector } from '../kube/validation/labels.ts';
import { tolerations } from '../kube/validation/pod/affinity.ts';
import {
  dns1123Label,
  dns1123Subdomain,
  inclusiveRange,
  oneOf,
  positive,
  qualifiedName,
} from '../kube/validation/rules.ts';
import { kindNamed, placedKinds } from './kinds.ts';
import { unreachableTaint } from './names.ts';
import { expressionProblem } from './policy-expression.ts';
import { countRange, mostReplicas, mostValues } from './spread.ts';

const longestExpression = 10_240;
/** More than that says nothing. */
const mostSkew = 100;
/** Of any one list: what people write by hand is shorter, and each is looked at for each workload. */
const longest = 1000;
/** Of affinity, and of antiAffinity. */
const mostTerms = 10;
const builtin = new Set(builtinResources.map(({ group }) => group));
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
  const tolerates = listAt(spec, 'tolerations').length > 0;
  const expressionBefore = at(old?.spec, 'clusters', 'expression');
  validateClusters(at(spec, 'clusters'), field.child('clusters'), { tolerates, before: expressionBefore });
  validateTolerations(at(spec, 'tolerations'), field.child('tolerations'));
  return causes;
}

function validateSelector(selector: unknown, namespaced: boolean, field: Field): void {
  for (const [index, { kind, group }] of records(at(selector, 'kinds')).entries()) {
    const path = field.child('kinds').index(index);
    // Of a custom resource: there may be a PlacedResource of it now or later.
    if (typeof group === 'string' && group !== '' && !builtin.has(group)) continue;
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

/** A policy that says nothing of them and tolerates taints takes what the layers below say, and those. */
function validateClusters(
  clusters: unknown,
  field: Field,
  { tolerates, before }: { tolerates: boolean; before: unknown },
): void {
  if (clusters === undefined) {
    if (!tolerates) field.required();
    return;
  }
  const groups = listAt(clusters, 'groups').map(strings);
  const said = [...strings(at(clusters, 'names')), ...groups.flat()];
  const count = at(clusters, 'count');
  const excluded = listAt(clusters, 'exclude').length > 0;
  const spread = at(clusters, 'spread');
  const expression = at(clusters, 'expression');
  const overflow = at(clusters, 'overflow');
  const company = ['affinity', 'antiAffinity'].map((name) => ({ name, terms: at(clusters, name) }));
  const others = [at(clusters, 'labelSelector'), expression, count, spread, overflow];
  const isSaid = [...others, ...company.map(({ terms }) => terms)].some((it) => it !== undefined);
  if (said.length === 0 && !isSaid && !excluded && !tolerates)
    field.required(
      'say names, groups, labelSelector, expression, exclude, count, spread, overflow, affinity or antiAffinity',
    );
  if (overflow === true && (count !== undefined || spread !== undefined))
    field.child('overflow').forbidden('may not be set together with count or spread, which say how many');
  names(at(clusters, 'names'), field.child('names'), dns1123Subdomain);
  if (groups.length > 0 && listAt(clusters, 'names').length > 0)
    field.child('groups').forbidden('may not be set together with names; make them a group');
  validateGroups(groups, field.child('groups'));
  labelSelector(at(clusters, 'labelSelector'), field.child('labelSelector'));
  names(at(clusters, 'exclude'), field.child('exclude'), dns1123Subdomain);
  if (said.length > 0 && excluded)
    field.child('exclude').forbidden('may not be set together with names; leave them out of the names');
  if (expression !== undefined && expression !== before)
    validateExpression(text(expression), field.child('expression'));
  validateSpread(spread, field.child('spread'));
  for (const { name, terms } of company) validateTerms(terms, field.child(name));
  if (spread !== undefined && groups.length > 0)
    field.child('spread').forbidden('may not be set together with groups; use names or labelSelector');
  if (count === undefined) return;
  const values = Object.keys(record(at(spread, 'replicas'))).length;
  if (values > 0 && Number(count) < values)
    field.child('count').invalid(count, `must not be less than the ${values} values of spread.replicas`);
  positive(count, field.child('count'));
  if (said.length > 0 && Number(count) > said.length)
    field.child('count').invalid(count, `must not be more than the ${said.length} that are named`);
}

function validateExpression(expression: string, field: Field): void {
  if (expression === '') field.required();
  if (expression.length > longestExpression) field.tooLong(longestExpression);
  if (expression === '' || expression.length > longestExpression) return;
  const problem = expressionProblem(expression);
  if (problem !== undefined) field.invalid(expression, problem);
}

function validateSpread(spread: unknown, field: Field): void {
  if (spread === undefined) return;
  qualifiedName(text(at(spread, 'topologyKey')), field.child('topologyKey'));
  const [replicas, maxSkew] = [at(spread, 'replicas'), at(spread, 'maxSkew')];
  if (maxSkew !== undefined) {
    const path = field.child('maxSkew');
    positive(maxSkew, path);
    if (Number(maxSkew) > mostSkew) path.invalid(maxSkew, inclusiveRange(1, mostSkew));
    if (replicas !== undefined) path.forbidden('may not be set together with replicas, which are exact');
  }
  if (replicas === undefined) return;
  const counts = Object.entries(record(replicas));
  const path = field.child('replicas');
  if (counts.length === 0) path.required('say how many replicas each value has, or leave it out');
  if (counts.length > mostValues) path.tooMany(counts.length, mostValues);
  for (const [value, count] of counts) {
    path.key(value).invalidAll(value, validateLabelValue(value));
    if (Number(count) < 1 || Number(count) > mostReplicas) path.key(value).invalid(count, countRange);
  }
}

function validateTerms(terms: unknown, field: Field): void {
  const all = listAt({ terms }, 'terms');
  if (all.length > mostTerms) field.tooMany(all.length, mostTerms);
  for (const [index, term] of all.slice(0, mostTerms).entries()) {
    labelSelector(at(term, 'labelSelector'), field.index(index).child('labelSelector'));
    const key = at(term, 'topologyKey');
    if (key !== undefined) qualifiedName(text(key), field.index(index).child('topologyKey'));
  }
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

/** A silence is tolerated for ever as it is. */
function validateTolerations(list: unknown, field: Field): void {
  tolerations(list, field);
  for (const [index, { key, tolerationSeconds }] of records(list).entries())
    if (key === unreachableTaint && tolerationSeconds === undefined)
      field.index(index).child('tolerationSeconds').required('without it a silence is tolerated anyway');
}

function names(value: unknown, field: Field, rule: (name: string, field: Field) => void): void {
  const all = strings(value);
  if (all.length > longest) field.tooMany(all.length, longest);
  else for (const [index, name] of all.entries()) rule(name, field.index(index));
}
