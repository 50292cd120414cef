import type { WorkloadKind, WorkloadKindName } from '../../../cluster/kinds.ts';
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
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: kind === 'StatefulSet' ? `${made}-0` : `${made}-${hash.slice(10)}`,
      generateName: `${made}-`,
      namespace,
      labels: { ...labelsOf(kind, made, hash), ...mapAt(template, 'metadata', 'labels') },
      ...annotationsOf(template),
      ...finalizersOf(template),
      ownerReferences: [{ ...owner, name: made, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: withClaims(kind, workload, deepCopy(template['spec'] ?? {})),
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

/** Those of the first one of a StatefulSet. */
function withClaims(kind: WorkloadKindName, { metadata, spec }: KubeObject, pod: Json): Json {
  if (kind !== 'StatefulSet' || !isRecord(pod)) return pod;
  const volumes = listAt(pod, 'volumes') as Json[];
  const claims = listAt(spec, 'volumeClaimTemplates').flatMap((claim): Json[] => {
    const name = textAt(claim, 'metadata', 'name');
    if (name === undefined || volumes.some((volume) => at(volume, 'name') === name)) return [];
    return [{ name, persistentVolumeClaim: { claimName: `${name}-${metadata.name ?? ''}-0` } }];
  });
  return claims.length === 0 ? pod : { ...pod, volumes: [...volumes, ...claims] };
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
