import type { WorkloadKind, WorkloadKindName } from '../../../cluster/kinds.ts';
import { labelsOfOne } from '../../../cluster/pod-labels.ts';
import { dropInjected, isInjected } from '../../../cluster/pod-spec.ts';
import { templateHash } from '../../../cluster/refused-revision.ts';
import { deepCopy } from '../../../kube/deep.ts';
import type { UserInfo } from '../../../kube/http.ts';
import type { Json, JsonObject, KubeObject } from '../../../kube/object.ts';
import { at, isRecord, listAt, mapAt, strings, textAt } from '../../../kube/untyped.ts';
import { broughtBack } from './undo.ts';

/** By whose controller a kind's pods are made, and what stands between the two: named after the workload and its template. */
interface Maker {
  controller: string;
  between?: { apiVersion: string; kind: string };
}

const makers: Partial<Record<WorkloadKindName, Maker>> = {
  Deployment: {
    controller: 'replicaset-controller',
    between: { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  },
  StatefulSet: { controller: 'statefulset-controller' },
  DaemonSet: { controller: 'daemon-set-controller' },
  ReplicaSet: { controller: 'replicaset-controller' },
  ReplicationController: { controller: 'replication-controller' },
  Job: { controller: 'job-controller' },
  CronJob: { controller: 'job-controller', between: { apiVersion: 'batch/v1', kind: 'Job' } },
};

/** Who makes the pods of a kind, as Kubernetes' own controller is called; of a custom resource as if it were one of those. */
export function podMaker({ kind, resource }: Pick<WorkloadKind, 'kind' | 'resource'>): UserInfo {
  const { controller } = makers[kind] ?? { controller: `${resource}-controller` };
  return {
    name: `system:serviceaccount:kube-system:${controller}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  };
}

/** A pod as the kind's controller would make it of the template. What it is called follows from both, so that whoever is asked again is asked the same. */
export function podOf(
  { kind }: Pick<WorkloadKind, 'kind'>,
  workload: KubeObject,
  template: JsonObject,
): KubeObject {
  const { name = '', namespace = '', uid = '' } = workload.metadata;
  const { between } = makers[kind] ?? {};
  // A Job has one template for ever, and gets labels into it only after it was asked about.
  const said = kind === 'Job' ? (template['spec'] ?? {}) : template;
  const hash = templateHash(said, 15);
  const made = between ? `${name}-${hash.slice(0, 10)}` : name;
  const owner = between ?? { apiVersion: workload.apiVersion, kind: workload.kind };
  const first = kind === 'StatefulSet' ? firstOf(workload) : undefined;
  const spec = deepCopy(template['spec'] ?? {});
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: first?.name ?? `${made}-${hash.slice(10)}`,
      generateName: `${made}-`,
      namespace,
      labels: { ...labelsOf(kind, made, hash), ...mapAt(template, 'metadata', 'labels'), ...first?.labels },
      ...annotationsOf(template),
      ...finalizersOf(template),
      ownerReferences: [{ ...owner, name: made, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: first && isRecord(spec) ? specOfFirst(workload, first, spec as JsonObject) : spec,
  };
}

function labelsOf(kind: WorkloadKindName, made: string, hash: string): Record<string, string> {
  if (kind === 'Deployment') return { 'pod-template-hash': hash.slice(0, 10) };
  const isJob = kind === 'Job' || kind === 'CronJob';
  return isJob ? { 'job-name': made, 'batch.kubernetes.io/job-name': made } : {};
}

function annotationsOf(template: JsonObject): { annotations?: Record<string, string> } {
  const annotations = mapAt(template, 'metadata', 'annotations');
  return annotations ? { annotations: { ...annotations } } : {};
}

function finalizersOf(template: JsonObject): { finalizers?: string[] } {
  const finalizers = strings(at(template, 'metadata', 'finalizers'));
  return finalizers.length > 0 ? { finalizers } : {};
}

interface First {
  ordinal: number;
  name: string;
  labels: Record<string, string>;
}

/** Which of a StatefulSet's pods is asked about. */
function firstOf(set: KubeObject): First {
  const start = at(set.spec, 'ordinals', 'start');
  const ordinal = typeof start === 'number' ? start : 0;
  return { ordinal, name: `${set.metadata.name ?? ''}-${ordinal}`, labels: labelsOfOne(set, ordinal) };
}

/** With its claims, and its name in the DNS of its Service. */
function specOfFirst({ metadata, spec }: KubeObject, { ordinal, name }: First, pod: JsonObject): JsonObject {
  const subdomain = textAt(spec, 'serviceName');
  const volumes = listAt(pod, 'volumes') as Json[];
  const claims = listAt(spec, 'volumeClaimTemplates').flatMap((claim): Json[] => {
    const of = textAt(claim, 'metadata', 'name');
    if (of === undefined || volumes.some((volume) => at(volume, 'name') === of)) return [];
    const claimName = `${of}-${metadata.name ?? ''}-${ordinal}`;
    return [{ name: of, persistentVolumeClaim: { claimName } }];
  });
  return {
    ...pod,
    hostname: name,
    ...(subdomain && { subdomain }),
    ...(claims.length > 0 && { volumes: [...volumes, ...claims] }),
  };
}

/** The template of what was answered: what is not a template's, as its name, stays out. */
export function templateFrom(template: JsonObject, shown: KubeObject, answered: KubeObject): JsonObject {
  const mapOf = (field: 'labels' | 'annotations') =>
    broughtBack(
      at(template, 'metadata', field) as Json | undefined,
      shown.metadata[field] ?? {},
      answered.metadata[field] ?? {},
    );
  const [labels, annotations] = [mapOf('labels'), mapOf('annotations')];
  const {
    labels: _labels,
    annotations: _annotations,
    ...metadata
  } = (template['metadata'] ?? {}) as JsonObject;
  const spec = broughtBack(template['spec'], shown.spec as Json, answered.spec as Json);
  const copy = deepCopy(spec);
  // Who was shown the token of a pod may have mounted it elsewhere, too: where pods run they get their own.
  const isTheirs = listAt(template, 'spec', 'volumes').some((volume) => isInjected(at(volume, 'name')));
  if (isRecord(copy) && !isTheirs) dropInjected(copy);
  const said = { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) };
  const hasMetadata = template['metadata'] !== undefined || Object.keys(said).length > 0;
  return {
    ...template,
    ...(hasMetadata && { metadata: said }),
    ...(copy !== undefined && { spec: copy }),
  };
}
