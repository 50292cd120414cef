import { logicalClusterOf } from '../client/url.ts';
import type { PlacedObject } from '../cluster/closure.ts';
import { kindNamed } from '../cluster/kinds.ts';
import { rootCluster } from '../cluster/names.ts';
import { namedBy, type PlacementPolicy, type PolicySelector, type WorkloadTerm } from '../cluster/policy.ts';
import { shownLabels } from '../cluster/policy-summary.ts';
import { kindOf } from '../cluster/ruled.ts';
import { eachCluster } from '../cluster/spread.ts';
import type { KubeObject } from '../kube/object.ts';
import { type LabelSelector, labelSelectorFromObject } from '../kube/selector.ts';
import type { Said, Term } from './wishes.ts';

/** A policy as it is asked about each workload. */
export interface Policy {
  priority: number;
  name: string;
  said: Said;
  selects(placed: PlacedObject, namespace: KubeObject | undefined): boolean;
}

/** The layers of a Namespace's policies, the most specific first; within each the one that counts first. */
export type Layers = readonly (readonly Policy[])[];

/** Of what a reason repeats of a policy. */
const longestShown = 100;

const known = new WeakMap<PlacementPolicy, Policy>();

export function layer(policies: readonly PlacementPolicy[]): Policy[] {
  return policies
    .filter(({ metadata, spec }) => spec !== undefined && metadata.deletionTimestamp === undefined)
    .map(policyOf)
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}

/** Of each layer the first policy that selects the workload; the rest of the layer says nothing of it. */
export function policiesFor(placed: PlacedObject, namespace: KubeObject | undefined, layers: Layers): Said[] {
  return layers.flatMap(
    (policies) => policies.find((policy) => policy.selects(placed, namespace))?.said ?? [],
  );
}

/** Read once: it is asked about every workload, and never changes. */
export function policyOf(policy: PlacementPolicy): Policy {
  const found = known.get(policy) ?? read(policy);
  known.set(policy, found);
  return found;
}

function read(policy: PlacementPolicy): Policy {
  const { name = '', namespace } = policy.metadata;
  const { priority = 0, selector = {}, clusters = {}, tolerations = [] } = policy.spec ?? {};
  const isGlobal = namespace === undefined && logicalClusterOf(policy) === rootCluster;
  const source = `${policy.kind} ${name}${isGlobal ? ` of ${rootCluster}` : ''}`;
  const { groups = [], labelSelector, expression, exclude = [], count, spread, overflow } = clusters;
  const { affinity = [], antiAffinity = [] } = clusters;
  const names = namedBy(clusters);
  const choosesAll = names.length > 0 || labelSelector !== undefined || expression !== undefined;
  return {
    priority,
    name,
    selects: selects(selector),
    said: {
      source,
      isPolicy: true,
      ...(names.length > 0 && { names: [...new Set(names)].sort() }),
      ...(groups.length > 0 && { groups }),
      ...(labelSelector && { labels: labelSelectorFromObject(labelSelector) }),
      ...(expression !== undefined && { expression }),
      exclude,
      tolerations,
      ...(spread && { spread }),
      ...(overflow !== undefined && { overflow }),
      ...(affinity.length > 0 && { affinity: affinity.map(termOf) }),
      ...(antiAffinity.length > 0 && { antiAffinity: antiAffinity.map(termOf) }),
      ...(count !== undefined ? { count } : choosesAll ? { count: 'all' as const } : {}),
    },
  };
}

function termOf({ labelSelector, topologyKey = eachCluster }: WorkloadTerm): Term {
  return {
    key: JSON.stringify([topologyKey, labelSelector]),
    topologyKey,
    labels: labelSelectorFromObject(labelSelector),
    shown: shownLabels(labelSelector).slice(0, longestShown) || 'other workloads',
  };
}

function selects(selector: PolicySelector): Policy['selects'] {
  const { kinds = [], names = [], labelSelector, namespaces = [], namespaceSelector } = selector;
  const labels = matcher(labelSelector);
  const namespaceLabels = matcher(namespaceSelector);
  // Asked about each workload by each policy: a tenant may have many of both.
  const ofKind = among(kinds.map(({ kind, group = kindNamed(kind)?.group }) => `${group}/${kind}`));
  const ofName = among(names);
  const ofNamespace = among(namespaces);
  return ({ kind: { group }, object, object: { metadata } }, namespace) =>
    ofKind(`${group}/${kindOf(object)}`) &&
    ofName(metadata.name ?? '') &&
    ofNamespace(metadata.namespace ?? '') &&
    (!labels || labels.matches(metadata.labels)) &&
    (!namespaceLabels || namespaceLabels.matches(namespace?.metadata.labels));
}

/** An empty list has everything. */
function among(list: readonly string[]): (value: string) => boolean {
  const all = new Set(list);
  return (value) => all.size === 0 || all.has(value);
}

function matcher(selector: LabelSelector | undefined) {
  return selector && labelSelectorFromObject(selector);
}
