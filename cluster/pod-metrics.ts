import type { KubeObject } from '../kube/object.ts';
import { formatQuantity } from '../kube/quantity.ts';
import { column, computed, type OwnResource } from './own.ts';
import { addResources, quantityOf, type Resources } from './pod-spec.ts';
import { any, list, map, object, text } from './schema.ts';
import { texts } from './texts.ts';

/** As metrics-server has it. https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/ */
export const podMetrics = { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'pods' };

/** What a pod uses, as the physical cluster that runs it says. Stored nowhere. */
export interface PodMetrics extends KubeObject {
  /** When it was measured, in RFC 3339; over how long before, as a Go duration. */
  timestamp?: string;
  window?: string;
  containers?: { name: string; usage: Record<string, string> }[];
}

const container = object(
  { name: text, usage: map({ type: 'string', format: 'quantity' }) },
  texts.containerMetrics,
);
const fields = {
  apiVersion: text,
  kind: text,
  metadata: any,
  timestamp: text,
  window: text,
  containers: list(container),
};

export const podMetricsResource: OwnResource = {
  info: {
    ...podMetrics,
    kind: 'PodMetrics',
    namespaced: true,
    verbs: ['get', 'list'],
    shortNames: [],
    singular: 'pod',
    categories: [],
    subresources: [],
    storageVersion: podMetrics.version,
  },
  schema: { ...object(fields, texts.podMetrics), description: texts.podMetrics.kind },
  columns: [
    computed<PodMetrics>('CPU', (pod) => shown(pod, 'cpu')),
    computed<PodMetrics>('Memory', (pod) => shown(pod, 'memory')),
    column('Window', 'string', '.window'),
  ],
};

function shown({ containers = [] }: PodMetrics, resource: string): string {
  const all = containers.reduce<Resources>(
    (sum, { usage }) => addResources(sum, new Map([[resource, quantityOf(usage[resource])]])),
    new Map(),
  );
  const used = all.get(resource);
  return used ? formatQuantity(used) : '';
}
