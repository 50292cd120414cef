import { Budget, compileClusterRule } from '../kube/cel/rule.ts';
import { toCel } from '../kube/cel/value.ts';
import { formatQuantity } from '../kube/quantity.ts';
import { costOf, limitsOf } from './capacity.ts';
import type { PhysicalCluster } from './types.ts';

/** Half a millisecond or so: any user's policy is asked of every cluster. */
const most = 10_000;
/** What is remembered of so many expressions, and of each for so many clusters. */
const mostKnown = 1000;

/** By expression, what is so of a cluster that is seen as the key. */
const known = new Map<string, Map<string, string | undefined>>();
/** An object never changes, and each is asked about for each workload; its heartbeats change nothing that is seen. */
const keys = new WeakMap<PhysicalCluster, string>();

/** Why a cluster is not what an expression asks for, `of` whom; undefined: it is. One that fails asks for nothing that there is. */
export function mismatch(expression: string, of: string, cluster: PhysicalCluster): string | undefined {
  const why = answerOf(expression, cluster);
  if (why === undefined) return undefined;
  const what = `the expression of ${of}`;
  return why === '' ? `it is not what ${what} asks for` : `${what} fails: ${why}`;
}

/** What it comes to. Undefined: true. Empty: false. Else why it is neither. */
export function answerOf(expression: string, cluster: PhysicalCluster): string | undefined {
  const key = keys.get(cluster) ?? JSON.stringify(seenAs(cluster));
  keys.set(cluster, key);
  const answers = known.get(expression) ?? new Map<string, string | undefined>();
  if (!known.has(expression)) bounded(known).set(expression, answers);
  if (!answers.has(key)) bounded(answers).set(key, answer(expression, cluster));
  return answers.get(key);
}

function bounded<T>(all: Map<string, T>): Map<string, T> {
  if (all.size >= mostKnown) all.clear();
  return all;
}

function answer(expression: string, cluster: PhysicalCluster): string | undefined {
  const rule = compileClusterRule(expression);
  if (rule instanceof Error) return firstLine(rule);
  try {
    const holds = rule(toCel(seenAs(cluster), undefined), new Budget(most));
    if (holds === true) return undefined;
    return holds === false ? '' : 'must evaluate to bool';
  } catch (error) {
    if (error instanceof Error) return firstLine(error);
    throw error;
  }
}

function firstLine({ message }: Error): string {
  return (message.split('\n')[0] ?? '').slice(0, 256);
}

/**
 * As expressions see it: what is empty is there. Neither whether it is Ready nor what is free: these change by themselves, and
 * what no longer matches is left.
 */
function seenAs(cluster: PhysicalCluster): Record<string, unknown> {
  const { metadata, spec, status } = cluster;
  const limits = [...limitsOf(cluster)].map(([name, limit]) => [name, formatQuantity(limit)]);
  return {
    name: metadata.name ?? '',
    labels: metadata.labels ?? {},
    taints: (spec?.taints ?? []).map(({ key, value = '', effect }) => ({ key, value, effect })),
    version: status?.version ?? '',
    capacity: Object.fromEntries(limits),
    cost: costOf(cluster),
  };
}
