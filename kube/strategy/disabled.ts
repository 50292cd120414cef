import type { JsonObject, KubeObject } from '../object.ts';
import { isRecord, record, records } from '../untyped.ts';
import type { KindInfo } from './kind.ts';

/**
 * Fields of features that Kubernetes 1.36 has and leaves switched off: what clients set there is dropped in silence.
 * https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
 */
export function dropDisabled(object: KubeObject, info: KindInfo): void {
  const spec = record(object.spec);
  const kind = `${info.group}/${info.kind}`;
  for (const pod of podSpecs(kind, object, spec)) dropFromPod(pod);
  if (kind === 'apps/StatefulSet') {
    const rolling = record(record(spec['updateStrategy'])['rollingUpdate']);
    if (rolling['maxUnavailable'] !== undefined) delete rolling['maxUnavailable'];
  }
  for (const name of Object.hasOwn(inSpec, kind) ? (inSpec[kind] ?? []) : [])
    if (spec[name] !== undefined) delete spec[name];
  if (kind === 'resource.k8s.io/ResourceSlice')
    for (const one of records(spec['devices'])) dropFromDevice(one);
  if (kind === 'discovery.k8s.io/EndpointSlice') {
    for (const endpoint of records((object as unknown as JsonObject)['endpoints']))
      if (endpoint['deprecatedTopology'] !== undefined) delete endpoint['deprecatedTopology'];
  }
}

/** Lists as attributes, and what devices stand for of their node. */
function dropFromDevice(device: JsonObject): void {
  if (device['nodeAllocatableResourceMappings'] !== undefined)
    delete device['nodeAllocatableResourceMappings'];
  for (const attribute of Object.values(record(device['attributes']))) {
    for (const name of ['bools', 'ints', 'strings', 'versions'])
      if (isRecord(attribute) && attribute[name] !== undefined) delete attribute[name];
  }
}

const inSpec: Readonly<Record<string, readonly string[]>> = {
  'coordination.k8s.io/Lease': ['strategy', 'preferredHolder'],
  'storage.k8s.io/CSIDriver': ['preventPodSchedulingIfMissing'],
};

const templated = [
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/DaemonSet',
  'apps/StatefulSet',
  'batch/Job',
];

function podSpecs(kind: string, object: KubeObject, spec: JsonObject): JsonObject[] {
  const inTemplate = (holder: JsonObject) => record(record(holder['template'])['spec']);
  if (kind === '/Pod') return [spec];
  if (kind === '/PodTemplate') return [inTemplate(object as unknown as JsonObject)];
  if (kind === 'batch/CronJob') return [inTemplate(record(record(spec['jobTemplate'])['spec']))];
  return templated.includes(kind) ? [inTemplate(spec)] : [];
}

function dropFromPod(spec: JsonObject): void {
  if (spec['schedulingGroup'] !== undefined) delete spec['schedulingGroup'];
  for (const list of ['containers', 'initContainers']) {
    for (const { lifecycle } of records(spec[list]))
      if (isRecord(lifecycle) && lifecycle['stopSignal'] !== undefined) delete lifecycle['stopSignal'];
  }
  for (const { projected } of records(spec['volumes'])) {
    for (const source of records(record(projected)['sources'])) {
      for (const name of ['clusterTrustBundle', 'podCertificate'])
        if (source[name] !== undefined) delete source[name];
    }
  }
}
