import { isPlacementMark, keepMarks } from '../../cluster/marks.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { badRequest, conflict, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { ResourceExchange } from '../core.ts';
import { checkPreconditions } from '../registry/metadata.ts';
import { postedObject, respondSuccess } from './writes/posted.ts';

const kind = { group: '', version: 'v1', kind: 'Binding' };

interface Target {
  kind?: string;
  name?: string;
}

/** POST pods/binding and bindings: names the node of a pod that has none. */
export async function handleBinding(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  const { object, query, admission } = await postedObject(exchange, kind);
  const name = info.name || (object.metadata.name ?? '');
  if ((object.metadata.name ?? '') !== name) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  const target = (object['target'] ?? {}) as Target;
  checkTarget(target);
  await admission.validate(object, undefined);
  if (name === '') throw badRequest('Name parameter required.');
  const change = (pod: KubeObject) => bound(pod, object, target.name ?? '');
  const { cluster, namespace } = info;
  const at = { cluster, namespace, name, group: '', resource: 'pods' };
  await core.registry.update(at, change, { subresource: 'binding', dryRun: query.dryRun });
  return respondSuccess(exchange);
}

function checkTarget({ kind: of = '', name = '' }: Target): void {
  const problems: string[] = [];
  if (of !== '' && of !== 'Node') {
    problems.push(
      `target.kind: Unsupported value: ${JSON.stringify(of)}: supported values: "Node", "<empty>"`,
    );
  }
  if (name === '') problems.push('target.name: Required value');
  if (problems.length === 0) return;
  // kube-apiserver has no better code for it.
  const message = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
  throw new StatusError(500, '', message);
}

function bound(pod: KubeObject, binding: KubeObject, node: string): KubeObject {
  const spec = (pod.spec ?? {}) as { nodeName?: string; schedulingGates?: unknown[] };
  const { name = '', deletionTimestamp } = pod.metadata;
  const refuse = (why: string) => conflict({ group: '', resource: 'pods/binding' }, name, why);
  const wanted = binding.metadata;
  const { uid, resourceVersion } = wanted;
  checkPreconditions(
    {
      ...pod,
      metadata: {
        name,
        namespace: pod.metadata.namespace ?? '',
        ...(uid && { uid }),
        ...(resourceVersion && { resourceVersion }),
      },
    },
    pod.metadata,
    { group: '', resource: 'pods' },
  );
  if (deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`);
  if (spec.schedulingGates?.length) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const { nominatedNodeName: _nominated, ...status } = (pod.status ?? {}) as Record<string, unknown>;
  const before = pod.metadata.annotations;
  const annotations = keepMarks({ ...before, ...wanted.annotations }, before, isPlacementMark) ?? {};
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length > 0 && { annotations }),
      // Where its node is, as a scheduler knows it.
      ...(wanted.labels && { labels: { ...pod.metadata.labels, ...wanted.labels } }),
    },
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: withScheduled(status['conditions']) },
  };
}

function withScheduled(conditions: unknown): unknown[] {
  const others = Array.isArray(conditions) ? conditions.filter((one) => one?.type !== 'PodScheduled') : [];
  return [
    ...others,
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(new Date()) },
  ];
}
