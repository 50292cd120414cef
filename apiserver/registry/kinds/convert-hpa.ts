import { type DecodedJson, JsonSyntaxError, literalAt } from '../../../kube/json.ts';
import { depthLimit, JsonParser } from '../../../kube/json-parser.ts';
import type { Json, JsonObject, KubeObject } from '../../../kube/object.ts';
import { decodeStruct } from '../../../kube/schema/strict.ts';
import { isRecord } from '../../../kube/untyped.ts';
import {
  behaviorFromV1,
  behaviorToV1,
  type Fields,
  fields,
  metricFromV1,
  metricToV1,
  present,
} from './hpa-annotations.ts';

/**
 * autoscaling/v1 shows one metric, CPU utilization, as a field of its own; everything else it keeps in
 * annotations. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/
 */
const prefix = 'autoscaling.alpha.kubernetes.io/';
const metricsAnnotation = `${prefix}metrics`;
const behaviorAnnotation = `${prefix}behavior`;
const statusesAnnotation = `${prefix}current-metrics`;
const conditionsAnnotation = `${prefix}conditions`;
/** Of what is said in v1 alone: they are no annotations of the object. */
const ours = [
  metricsAnnotation,
  behaviorAnnotation,
  statusesAnnotation,
  conditionsAnnotation,
  `${prefix}scale-up-tolerance`,
  `${prefix}scale-down-tolerance`,
];

export function hpaFromV1(hpa: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = fields(hpa.spec);
  const said = hpa.metadata.annotations ?? {};
  const others = list(said[metricsAnnotation])?.map((one) => metricFromV1(one, 'target'));
  const { metrics: read = [] } = readAs('spec', { metrics: others });
  const metrics = [
    ...(read as unknown[]),
    ...(cpu === undefined ? [] : [cpuMetric({ target: target(cpu) })]),
  ];
  const { behavior } = readAs('spec', { behavior: behaviorFromV1(parse(said[behaviorAnnotation])) });
  return {
    ...withAnnotations(hpa, {}),
    apiVersion: 'autoscaling/v2',
    spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior !== undefined && { behavior }) },
    ...(hpa.status !== undefined && { status: statusFromV1(fields(hpa.status), said) }),
  };
}

function statusFromV1(given: Fields, said: Readonly<Record<string, string>>): Fields {
  const { currentCPUUtilizationPercentage: current, ...status } = given;
  const cpu = current === undefined ? undefined : [cpuMetric({ current: { averageUtilization: current } })];
  const written = list(said[statusesAnnotation])?.map((one) => metricFromV1(one, 'current'));
  const { currentMetrics = cpu } = readAs('status', { currentMetrics: written });
  const { conditions } = readAs('status', { conditions: list(said[conditionsAnnotation]) });
  return { ...status, ...present({ currentMetrics, conditions }) };
}

const v2 = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' };

/** Whoever writes annotations writes what they like; as with Kubernetes, what the types do not hold is not there at all. */
function readAs(part: 'spec' | 'status', given: Fields): Fields {
  const [value] = Object.values(given);
  if (value === undefined) return {};
  const { value: read, error } = decodeStruct({ [part]: given } as JsonObject, v2);
  return error === undefined ? fields(read[part]) : {};
}

export function hpaToV1(hpa: KubeObject): KubeObject {
  const { metrics, behavior, ...spec } = fields(hpa.spec);
  const { currentMetrics, conditions, ...status } = fields(hpa.status);
  const all = Array.isArray(metrics) ? metrics : [];
  const cpu = all.find((m) => utilization(m, 'target') !== undefined);
  const others = all.filter((m) => utilization(m, 'target') === undefined);
  const currents = Array.isArray(currentMetrics) ? currentMetrics : [];
  const current = currents.find((m) => utilization(m, 'current') !== undefined);
  return {
    ...withAnnotations(hpa, {
      ...text(
        metricsAnnotation,
        others.map((one) => metricToV1(one, 'target')),
      ),
      // A percentage of the processor has its amount here, too.
      ...text(
        statusesAnnotation,
        currents.map((one) => metricToV1(one, 'current')),
      ),
      ...(isRecord(behavior) && { [behaviorAnnotation]: JSON.stringify(behaviorToV1(behavior)) }),
      ...text(conditionsAnnotation, Array.isArray(conditions) ? conditions : []),
    }),
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

/** What v1 says in annotations v2 says in fields: nothing of it stays beside them. */
export function hpaFromV2(hpa: KubeObject): KubeObject {
  const said = hpa.metadata.annotations ?? {};
  return ours.some((name) => Object.hasOwn(said, name)) ? withAnnotations(hpa, {}) : hpa;
}

function text(annotation: string, values: readonly unknown[]): Record<string, string> {
  return values.length === 0 ? {} : { [annotation]: JSON.stringify(values) };
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

/** Undefined where there is no list. */
function list(written: string | undefined): unknown[] | undefined {
  const value = parse(written);
  return Array.isArray(value) ? value : undefined;
}

function parse(written: string | undefined): unknown {
  if (written === undefined) return undefined;
  try {
    return asWritten(new JsonParser(written, true, depthLimit).parse());
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Numbers that are not written as integers as texts, which a quantity may be and an integer may not. */
function asWritten({ value, literals }: DecodedJson): unknown {
  if (literals === undefined) return value;
  const visit = (at: Json, path: readonly string[]): unknown => {
    if (Array.isArray(at)) return at.map((item, i) => visit(item, [...path, `[${i}]`]));
    if (isRecord(at))
      return Object.fromEntries(
        Object.entries(at).map(([k, v]) => [k, visit(v as Json, [...path, `.${k}`])]),
      );
    const literal = typeof at === 'number' ? literalAt(literals, path) : undefined;
    return literal === undefined || /^-?\d+$/.test(literal) ? at : literal;
  };
  return visit(value, Array.isArray(value) ? ['.'] : []);
}

/** What it says in v1 alone is told as it is now. */
function withAnnotations(hpa: KubeObject, told: Record<string, string>): KubeObject {
  const { annotations = {}, ...metadata } = hpa.metadata;
  const kept = Object.entries(annotations).filter(([name]) => !ours.includes(name));
  const to = { ...Object.fromEntries(kept), ...told };
  return { ...hpa, metadata: { ...metadata, ...(Object.keys(to).length > 0 && { annotations: to }) } };
}
