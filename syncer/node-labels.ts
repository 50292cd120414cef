import type { Informer } from '../client/informer.ts';
import { lacking, moreLabels, nodeNameKey } from '../cluster/node-fit.ts';
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
 * Each as `key=value`, a node's name under nodeNameKey, and keys that some node has not, sorted; of the keys with the most values moreLabels
 * stands for these where they are too many together, and by itself in the end where the keys are.
 */
export function nodeLabels(nodes: Iterable<KubeObject>): string[] {
  const costs = labelsByKey(nodes).map(([key, labels]) => ({ key, labels, cost: costOf(labels) }));
  let [count, bytes] = [0, 0];
  for (const { labels, cost } of costs) [count, bytes] = [count + labels.size, bytes + cost];
  for (const one of costs.sort((a, b) => b.cost - a.cost)) {
    if (count <= most && bytes <= mostBytes) break;
    const fewer = new Set([`${one.key}=${moreLabels}`]);
    [count, bytes] = [count - one.labels.size + 1, bytes - one.cost + costOf(fewer)];
    one.labels = fewer;
  }
  const all = costs.flatMap(({ labels }) => [...labels]).sort();
  let size = 0;
  const told = all.slice(0, most).filter((label) => {
    size += label.length + 3;
    return size <= mostBytes;
  });
  return told.length < all.length ? [...told, moreLabels] : told;
}

function labelsByKey(nodes: Iterable<KubeObject>): [string, Set<string>][] {
  const byKey = new Map<string, { labels: Set<string>; nodes: number }>();
  let count = 0;
  for (const { metadata } of nodes) {
    count++;
    for (const [key, value] of Object.entries({ ...metadata.labels, [nodeNameKey]: metadata.name ?? '' })) {
      const known = byKey.get(key) ?? { labels: new Set(), nodes: 0 };
      known.labels.add(`${key}=${value}`);
      byKey.set(key, { labels: known.labels, nodes: known.nodes + 1 });
    }
  }
  return [...byKey].map(([key, of]) => [key, of.nodes < count ? of.labels.add(lacking + key) : of.labels]);
}

/** Quotes and a comma beside each, as JSON. */
function costOf(labels: ReadonlySet<string>): number {
  let sum = 0;
  for (const label of labels) sum += label.length + 3;
  return sum;
}
