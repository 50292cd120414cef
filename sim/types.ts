import type { KubeObject, ObjectMeta } from '../kube/object.ts';

export interface PodTemplate {
  metadata?: ObjectMeta;
  spec: PodSpec;
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
  tolerations?: Toleration[];
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] };
    };
  };
  [field: string]: unknown;
}

export interface NodeSelectorTerm {
  matchFields?: { key: string; operator: string; values?: string[] }[];
}

export interface Container {
  name: string;
  image?: string;
  resources?: { requests?: Record<string, string> };
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface PodStatus {
  phase?: string;
  conditions?: PodCondition[];
  startTime?: string;
  podIP?: string;
  [field: string]: unknown;
}

export type Pod = KubeObject<PodSpec, PodStatus>;
export type Node = KubeObject<
  { unschedulable?: boolean; taints?: Taint[] },
  { allocatable?: Record<string, string>; conditions?: PodCondition[] }
>;

export interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** What the kinds that make pods have in common. */
export interface WorkloadSpec {
  replicas?: number;
  selector?: Selector;
  template: PodTemplate;
  minReadySeconds?: number;
  [field: string]: unknown;
}

export type Workload<Spec extends WorkloadSpec = WorkloadSpec> = KubeObject<Spec, Record<string, unknown>>;

/** What a decider wants done, in this order: claims, creations, deletions, patches, then the status. */
export interface Plan<Child extends KubeObject = KubeObject> {
  /** PersistentVolumeClaims that must be there before the children. */
  claims?: KubeObject[];
  create: Child[];
  /** Names. */
  remove: string[];
  /** Merge patches of children, by name. */
  patch: { name: string; body: object }[];
  status: Record<string, unknown>;
  /** Annotations to set on the workload itself. */
  annotate?: Record<string, string>;
  /** Look again after this long, if nothing happens before. */
  afterMs?: number;
}
