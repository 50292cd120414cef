import type { View } from '../apiserver/options.ts';
import type { Client } from '../client/client.ts';
import { type PodMetrics, podMetrics } from '../cluster/pod-metrics.ts';
import { quantityOf } from '../cluster/pod-spec.ts';
import type { KubeObject } from '../kube/object.ts';
import { formatQuantity } from '../kube/quantity.ts';
import { StatusError } from '../kube/status.ts';
import { timestamp } from '../kube/timestamp.ts';
import { at, isRecord, listAt, textAt } from '../kube/untyped.ts';
import { resources } from './resources.ts';

const groupVersion = `${podMetrics.group}/${podMetrics.version}`;
const path = /^\/apis\/metrics\.k8s\.io\/v1beta1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?$/;
/** What a container without requests pretends to use. */
const idle = { cpu: '1m', memory: '8Mi' };

/** metrics.k8s.io of a simulated cluster: a container that runs uses what it asks for, neither more nor less. */
export function usageView(clientOf: () => Client): View {
  return {
    owns: (asked) => asked.startsWith('/apis/metrics.k8s.io/'),
    authorize: () => ({ allowed: true }),
    async handle({ info, request: { method } }) {
      const [, namespace, name] = path.exec(info.path) ?? [];
      if (namespace === undefined || method !== 'GET')
        throw new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
      const { items } = await clientOf().list(resources.pods, { namespace });
      const running = items.filter((pod) => textAt(pod, 'status', 'phase') === 'Running').map(usageOf);
      const list = { kind: 'PodMetricsList', apiVersion: groupVersion, metadata: {}, items: running };
      const answer = name === undefined ? list : running.find(({ metadata }) => metadata.name === name);
      if (!answer) {
        const missing = { group: podMetrics.group, kind: 'podmetrics', name: `${namespace}/${name}` };
        throw new StatusError(
          404,
          'NotFound',
          `podmetrics.metrics.k8s.io "${missing.name}" not found`,
          missing,
        );
      }
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: Buffer.from(JSON.stringify(answer)) };
    },
  };
}

function usageOf({ metadata, spec }: KubeObject): PodMetrics {
  const { name, namespace } = metadata;
  return {
    kind: 'PodMetrics',
    apiVersion: groupVersion,
    metadata: { ...(name && { name }), ...(namespace && { namespace }) },
    timestamp: timestamp(Date.now()),
    window: '10s',
    containers: listAt({ spec }, 'spec', 'containers').map((container) => {
      const requests = at(container, 'resources', 'requests');
      const usage = { ...idle, ...(isRecord(requests) && requests) };
      return {
        name: textAt(container, 'name') ?? '',
        usage: {
          cpu: formatQuantity(quantityOf(usage.cpu)),
          memory: formatQuantity(quantityOf(usage.memory)),
        },
      };
    }),
  };
}
