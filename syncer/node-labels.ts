import type { Informer } from '../client/informer.ts';
import { moreLabels, nodeNameKey } from '../cluster/node-fit.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';

/** Together they have to fit into a status, beside what the cluster serves. */
const most = 500;
const mostBytes = 16 << 10;

/** The labels that a cluster's nodes have, put together anew only once those of one have changed: it is asked with each heartbeat. */
export class NodeLabels {
  readonly #nodes: Pick<Informer, 'hasSynced' | 'values'>;
  #known: readonly string[] | undefined;

  constructor(nodes: Pick<Informer, 'hasSynced' | 'values' | 'on'>) {
    this.#nodes = nodes;
    const forget = () => {
      this.#known = undefined;
    };
    nodes.on({
      add: forget,
      update: (now, old) => deepEqual(now.metadata.labels, old.metadata.labels) || forget(),
      delete: forget,
    });
  }

  /** Undefined while they are not known. */
  now(): readonly string[] | undefined {
    if (!this.#nodes.hasSynced) return undefined;
    this.#known ??= nodeLabels(this.#nodes.values());
    return this.#known;
  }
}

/**
 * Each as `key=value`, sorted, a node's name under nodeNameKey; of the keys with the most values moreLabels stands for these where they
 * are too many together, and by itself in the end where the keys are.
 */
export function nodeLabels(nodes: Iterable<KubeObject>): string[] {
  const byKey = new Map<string, Set<string>>();
  for (const { metadata } of nodes)
    for (const [key, value] of [[nodeNameKey, metadata.name ?? ''], ...Object.entries(metadata.labels ?? {})])
      byKey.set(key as string, (byKey.get(key as string) ?? new Set()).add(value as string));
  const costs = [...byKey].map(([key, values]) => ({ key, values, cost: costOf(key, values) }));
  let [count, bytes] = [0, 0];
  for (const { values, cost } of costs) [count, bytes] = [count + values.size, bytes + cost];
  for (const one of costs.sort((a, b) => b.cost - a.cost)) {
    if (count <= most && bytes <= mostBytes) break;
    const fewer = new Set([moreLabels]);
    [count, bytes] = [count - one.values.size + 1, bytes - one.cost + costOf(one.key, fewer)];
    one.values = fewer;
  }
  const all = costs.flatMap(({ key, values }) => [...values].map((value) => `${key}=${value}`)).sort();
  let size = 0;
  const told = all.slice(0, most).filter((label) => {
    size += label.length + 3;
    return size <= mostBytes;
  });
  return told.length < all.length ? [...told, moreLabels] : told;
}

/** Quotes and a comma beside the label, as JSON. */
function costOf(key: string, values: ReadonlySet<string>): number {
  let sum = 0;
  for (const value of values) sum += key.length + value.length + 4;
  return sum;
}
