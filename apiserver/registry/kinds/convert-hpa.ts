import type { KubeObject } from '../../../kube/object.ts';
import { isRecord } from '../../../kube/untyped.ts';

/**
 * autoscaling/v1 shows one metric, CPU utilization, as a field of its own; everything else it keeps in
 * annotations. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/
 */
const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';

type Fields = Record<string, unknown>;

export function hpaFromV1(hpa: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = fields(hpa.spec);
  const { currentCPUUtilizationPercentage: current, ...status } = fields(hpa.status);
  const { [metricsAnnotation]: metrics, [behaviorAnnotation]: behavior, ...rest } = annotations(hpa);
  const all = [...list(metrics), ...(cpu === undefined ? [] : [cpuMetric({ target: target(cpu) })])];
  const parsed = parse(behavior);
  return {
    ...withAnnotations(hpa, rest),
    apiVersion: 'autoscaling/v2',
    spec: { ...spec, ...(all.length > 0 && { metrics: all }), ...(isRecord(parsed) && { behavior: parsed }) },
    ...(hpa.status !== undefined && {
      status: {
        ...status,
        ...(current !== undefined && {
          currentMetrics: [cpuMetric({ current: { averageUtilization: current } })],
        }),
      },
    }),
  };
}

export function hpaToV1(hpa: KubeObject): KubeObject {
  const { metrics, behavior, ...spec } = fields(hpa.spec);
  const { currentMetrics, conditions: _, ...status } = fields(hpa.status);
  const all = Array.isArray(metrics) ? metrics : [];
  const cpu = all.find((m) => utilization(m, 'target') !== undefined);
  const others = all.filter((m) => m !== cpu);
  const current = (Array.isArray(currentMetrics) ? currentMetrics : []).find(
    (m) => utilization(m, 'current') !== undefined,
  );
  const kept = {
    ...annotations(hpa),
    ...(others.length > 0 && { [metricsAnnotation]: JSON.stringify(others) }),
    ...(isRecord(behavior) && { [behaviorAnnotation]: JSON.stringify(behavior) }),
  };
  return {
    ...withAnnotations(hpa, kept),
    apiVersion: 'autoscaling/v1',
    spec: {
      ...spec,
      ...(cpu !== undefined && { targetCPUUtilizationPercentage: utilization(cpu, 'target') }),
    },
    ...(hpa.status !== undefined && {
      status: {
        currentReplicas: 0,
        desiredReplicas: 0,
        ...status,
        ...(current !== undefined && { currentCPUUtilizationPercentage: utilization(current, 'current') }),
      },
    }),
  };
}

function cpuMetric(rest: Fields): Fields {
  return { type: 'Resource', resource: { name: 'cpu', ...rest } };
}

function target(averageUtilization: unknown): Fields {
  return { type: 'Utilization', averageUtilization };
}

function utilization(metric: unknown, side: 'target' | 'current'): unknown {
  const resource = fields(fields(metric)['resource']);
  return resource['name'] === 'cpu' ? fields(resource[side])['averageUtilization'] : undefined;
}

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function list(text: string | undefined): unknown[] {
  const value = parse(text);
  return Array.isArray(value) ? value : [];
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function annotations(hpa: KubeObject): Record<string, string> {
  return hpa.metadata.annotations ?? {};
}

function withAnnotations(hpa: KubeObject, to: Record<string, string>): KubeObject {
  const { annotations: _, ...metadata } = hpa.metadata;
  return { ...hpa, metadata: { ...metadata, ...(Object.keys(to).length > 0 && { annotations: to }) } };
}
