import { type PodMetrics, podMetrics } from '../../cluster/pod-metrics.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { notFound, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { ResourceExchange } from '../core.ts';
import { encoded, formOf, methodNotAllowed, noSuchResource, respondObject } from '../encode/respond.ts';
import { parseSelection } from '../registry/selectors.ts';
import { listQuery } from './lists/options.ts';
import { readPage } from './lists/page.ts';
import { shapeList } from './lists/respond.ts';

/**
 * What the pods of a logical cluster use, as `kubectl top pods` asks: of pods as they are here, measured where they run. Stored nowhere, and
 * asked for anew each time. Throws StatusError 404 of what is not measured (yet), 503 where no cluster answers.
 * https://github.com/kubernetes/metrics
 */
export async function handlePodMetrics(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  // Pods of one name are many there.
  if (info.cluster === '*') throw methodNotAllowed();
  const pods = ofPods(exchange);
  if (info.name !== '') {
    const entry = await core.registry.read(pods.stored, pods.info);
    const pod = core.registry.decode(pods.stored, info.cluster, entry);
    const [found] = await measured(exchange, [pod]);
    if (!found) throw notFound({ ...podMetrics, resource: 'podmetrics' }, `${info.namespace}/${info.name}`);
    return respondObject(exchange, 200, found);
  }
  const form = formOf(exchange);
  // All of them: what is asked for are numbers of one moment.
  const query = { ...listQuery(info.query, false), limit: 0, continue: '', revision: undefined };
  const page = await readPage(pods, query, parseSelection(pods.info, pods.served));
  const all = page.entries.map((entry) => core.registry.decode(pods.stored, info.cluster, entry));
  return encoded(200, shapeList(exchange, form, await measured(exchange, all), {}), form);
}

/** The same, asked of the pods themselves. */
function ofPods(exchange: ResourceExchange): ResourceExchange {
  const { core, info } = exchange;
  const stored = core.registry.find(info.cluster, '', 'pods');
  if (!stored) throw noSuchResource();
  return { ...exchange, info: { ...info, group: '', version: 'v1' }, served: stored, stored };
}

async function measured(
  { core, info, request, warnings }: ResourceExchange,
  pods: readonly KubeObject[],
): Promise<PodMetrics[]> {
  if (pods.length === 0 || !core.podUsage) return [];
  const { found, unknown, answered } = await core.podUsage(info.cluster, pods, request.signal);
  if (!answered && unknown.length > 0)
    throw new StatusError(503, 'ServiceUnavailable', unknown.join('; '), {});
  for (const words of unknown) warnings.add(`${words}: pods of it are left out`);
  return pods.flatMap((pod) => {
    const usage = found.get(pod);
    return usage ? [shown(pod, usage)] : [];
  });
}

/** By the pod's own names here; of what the cluster says only the numbers. */
function shown({ metadata }: KubeObject, { timestamp: at, window, containers = [] }: PodMetrics): PodMetrics {
  const { name, namespace, labels } = metadata;
  return {
    kind: 'PodMetrics',
    apiVersion: `${podMetrics.group}/${podMetrics.version}`,
    metadata: {
      name,
      namespace,
      creationTimestamp: timestamp(Date.now()),
      ...(labels && { labels }),
    },
    ...(at !== undefined && { timestamp: at }),
    ...(window !== undefined && { window }),
    containers: containers.map(({ name: container, usage }) => ({ name: container, usage })),
  } as PodMetrics;
}
