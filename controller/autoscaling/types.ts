import type { Condition } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LabelSelector } from '../../kube/selector.ts';

export interface Metric {
  type: string;
  external?: {
    metric: { name: string; selector?: LabelSelector };
    target: { type: string; value?: string | number; averageValue?: string | number };
  };
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
  scaleTargetRef: { apiVersion?: string; kind: string; name: string };
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

/** What one metric says: its values in thousandths, or why there are none. */
export type Reading = { values: readonly bigint[] } | { failure: string };
