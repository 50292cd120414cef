import type { KubeObject } from '../kube/object.ts';
import { type LabelSelector, labelSelectorFromObject } from '../kube/selector.ts';
import { at, isRecord, listAt, record, strings } from '../kube/untyped.ts';
import { answerOf } from './expression.ts';
import { namedBy } from './policy.ts';
import { topologyOf } from './spread.ts';
import type { PhysicalCluster } from './types.ts';

/** Of an expression that is true of none of so many, nothing is said: it is a tenant's, and each may take its steps. */
const mostAsked = 50;
const mostNamed = 10;

/** PhysicalClusters. */
type Fleet = readonly KubeObject[];

/**
 * What `spec.clusters` of a policy asks for that no physical cluster has, each with its field: a policy may come before
 * the clusters that it is about, or have a typing error. Nobody has looked at the shape of `clusters` yet.
 */
export function* unmatched(clusters: unknown, fleet: Fleet): Iterable<[field: string, why: string]> {
  const groups = listAt(clusters, 'groups').map(strings);
  const named = namedBy({ names: strings(at(clusters, 'names')), groups });
  yield* said('', unknown(named, fleet));
  yield* said('.exclude', unknown(strings(at(clusters, 'exclude')), fleet));
  const labels = at(clusters, 'labelSelector');
  if (isRecord(labels) && !hasLabels(labels, fleet))
    yield ['.labelSelector', 'no physical cluster has such labels yet'];
  const expression = at(clusters, 'expression');
  if (typeof expression === 'string') yield* said('.expression', untrue(expression, fleet));
  const spread = at(clusters, 'spread');
  const values = Object.keys(record(at(spread, 'replicas')));
  yield* said('.spread', unspread(at(spread, 'topologyKey'), values, fleet));
  for (const name of ['affinity', 'antiAffinity'])
    for (const [i, term] of listAt(clusters, name).slice(0, mostNamed).entries())
      yield* said(`.${name}[${i}]`, unspread(at(term, 'topologyKey'), [], fleet));
}

/** Over what nothing can be spread yet. */
export function unspread(key: unknown, values: readonly string[], fleet: Fleet): string | undefined {
  if (typeof key !== 'string' || key === '' || fleet.length === 0) return undefined;
  const there = new Set(fleet.map((cluster) => topologyOf(key, cluster)));
  there.delete(undefined);
  if (there.size === 0) return `no physical cluster has the label ${key} yet`;
  const missing = values.filter((value) => !there.has(value));
  return missing.length === 0 ? undefined : `no physical cluster has ${key} ${listed(missing)} yet`;
}

function* said(field: string, why: string | undefined): Iterable<[string, string]> {
  if (why !== undefined) yield [field, why];
}

function unknown(names: readonly string[], fleet: Fleet): string | undefined {
  const known = new Set(fleet.map(({ metadata }) => metadata.name));
  const others = names.filter((name) => name !== '' && !known.has(name));
  return others.length === 0 ? undefined : `no physical cluster is named ${listed(others)} yet`;
}

function hasLabels(selector: LabelSelector, fleet: Fleet): boolean {
  try {
    const matcher = labelSelectorFromObject(selector);
    return fleet.some(({ metadata }) => matcher.matches(metadata.labels));
  } catch {
    // Refused for itself.
    return true;
  }
}

function untrue(expression: string, fleet: Fleet): string | undefined {
  if (fleet.length > mostAsked) return undefined;
  const answers = fleet.map((cluster) => answerOf(expression, cluster as PhysicalCluster));
  if (answers.includes(undefined)) return undefined;
  const [fault] = answers.filter((answer) => answer !== '');
  return `it is true of no physical cluster yet${fault === undefined ? '' : `: ${fault}`}`;
}

function listed(names: readonly string[]): string {
  return names.slice(0, mostNamed).join(', ');
}
