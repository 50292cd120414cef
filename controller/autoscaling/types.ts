import type { Condition } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LabelSelector } from '../../kube/selector.ts';

export interface MetricName {
  name: string;
  selector?: LabelSelector;
}

export interface Target {
  type: string;
  value?: string | number;
  averageValue?: string | number;
  /** Percent of what the pods request. */
  averageUtilization?: number;
}

export interface Described {
  apiVersion?: string;
  kind: string;
  name: string;
}

/** One of these, as `type` says. */
export interface Metric {
  type: string;
  external?: { metric: MetricName; target: Target };
  object?: { metric: MetricName; describedObject: Described; target: Target };
  pods?: { metric: MetricName; target: Target };
  resource?: { name: string; target: Target };
  containerResource?: { name: string; container: string; target: Target };
}

export interface Policy {
  type: string;
  value: number;
  periodSeconds: number;
}

export interface Rules {
  stabilizationWindowSeconds?: number;
  selectPolicy?: string;
  policies?: Policy[];
  tolerance?: string | number;
}

export interface Behavior {
  scaleUp?: Rules;
  scaleDown?: Rules;
}

export interface AutoscalerSpec {
  scaleTargetRef: Described;
  minReplicas?: number;
  maxReplicas: number;
  metrics?: Metric[];
  behavior?: Behavior;
}

export interface AutoscalerStatus {
  currentReplicas?: number;
  desiredReplicas?: number;
  lastScaleTime?: string;
  currentMetrics?: unknown[];
  conditions?: Condition[];
}

export type Autoscaler = KubeObject<AutoscalerSpec, AutoscalerStatus>;

/** Of what is scaled, as its scale subresource says it. */
export interface Scale {
  /** What it is to have. */
  wanted: number;
  /** What it has. */
  current: number;
}

/** Of one pod, in thousandths; `at` in epoch milliseconds, measured over `windowMs` before. */
export interface Sample {
  value: bigint;
  at: number;
  windowMs: number;
}

/** What one metric says: values in thousandths, or samples of pods by their names; or why it says nothing. */
export type Reading =
  | { values: readonly bigint[] }
  | { samples: ReadonlyMap<string, Sample> }
  | { failure: string };
