import { encodeJson } from '../kube/json.ts';
import type { JsonObject, KubeObject } from '../kube/object.ts';
import { sortedKeys } from '../kube/sorted.ts';
import { at, isRecord, mapAt, record } from '../kube/untyped.ts';
import { digest } from './digest.ts';
import { isOurs } from './marks.ts';
import { refusedRevisionAnnotation } from './names.ts';
import { podRefusal } from './pod-admission.ts';
import { inJson, revisionAnnotation } from './revision.ts';

const hashLabel = 'pod-template-hash';

/** By what is made of a template, and those of others, are told apart. */
export function templateHash(template: unknown, length = 10): string {
  return digest(encodeJson(sortedKeys(record(template))), length);
}

/** Whether it stands in a workload's history for its template that is refused: no physical cluster has it. */
export function isRefusedRevision({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[refusedRevisionAnnotation] !== undefined;
}

/**
 * What of a workload's history stands for its template as it is written, while that is refused: the ReplicaSet of a Deployment, or the ControllerRevision.
 * On Kubernetes it is the newest there is, so that `kubectl rollout undo` leads to the one before it, which runs. Nothing is made of it.
 * Undefined: nothing is refused, or, of a paused Deployment, Kubernetes has none either.
 */
export function refusedRevision(workload: KubeObject, revision: bigint): KubeObject | undefined {
  const { metadata, spec } = workload;
  const template = at(spec, 'template');
  const isLive = metadata.deletionTimestamp === undefined && at(spec, 'paused') !== true;
  if (!isLive || podRefusal(workload) === undefined || !isRecord(template)) return undefined;
  return workload.kind === 'Deployment'
    ? replicaSet(workload, template as JsonObject, revision)
    : controllerRevision(workload, template as JsonObject, revision);
}

function replicaSet(workload: KubeObject, template: JsonObject, revision: bigint): KubeObject {
  const hash = templateHash(template);
  const labels = { ...mapAt(template, 'metadata', 'labels'), [hashLabel]: hash };
  const selector = record(at(workload.spec, 'selector'));
  const minReadySeconds = at(workload.spec, 'minReadySeconds');
  const annotations = { ...usersWord(workload), [revisionAnnotation]: String(revision) };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: metadataOf(workload, hash, labels, annotations),
    spec: {
      replicas: 0,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: {
        ...selector,
        matchLabels: { ...mapAt(selector, 'matchLabels'), [hashLabel]: hash },
      },
      template: { ...template, metadata: { ...record(template['metadata']), labels } },
    },
  };
}

function controllerRevision(workload: KubeObject, template: JsonObject, revision: bigint): KubeObject {
  const hash = templateHash(template);
  const label =
    workload.kind === 'StatefulSet' ? 'controller.kubernetes.io/hash' : 'controller-revision-hash';
  const labels = { ...mapAt(template, 'metadata', 'labels'), [label]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: metadataOf(workload, hash, labels, usersWord(workload)),
    // Clients compare its bytes with what they make of the workload.
    data: { spec: { template: sortedKeys({ ...template, $patch: 'replace' }) } },
    revision: inJson(revision),
  };
}

function metadataOf(
  { apiVersion, kind, metadata }: KubeObject,
  hash: string,
  labels: Record<string, string>,
  annotations: Record<string, string>,
): KubeObject['metadata'] {
  const { name = '', namespace = '', uid = '' } = metadata;
  const flags = { controller: true, blockOwnerDeletion: true };
  return {
    name: `${name}-${hash}`,
    namespace,
    labels,
    annotations: { ...annotations, [refusedRevisionAnnotation]: 'true' },
    ownerReferences: [{ apiVersion, kind, name, uid, ...flags }],
  };
}

/** What Kubernetes' controllers copy: why it was changed, say. Where something runs is said of the workload alone. */
function usersWord({ metadata }: KubeObject): Record<string, string> {
  const isTheirs = (key: string) =>
    !isOurs(key) &&
    !key.startsWith('deployment.kubernetes.io/') &&
    !['kubectl.kubernetes.io/last-applied-configuration', 'deprecated.deployment.rollback.to'].includes(key);
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => isTheirs(key)));
}
