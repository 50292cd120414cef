import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Defaulters } from './defaulter.ts';
import { child, fill, fillMap, fillZero, withMissing } from './fill.ts';
import { roundResources } from './pod.ts';

function service(object: JsonObject): void {
  const spec = child(object, 'spec');
  fillZero(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] === 'ClientIP') {
    const seconds = at(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
    if (seconds === undefined) spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: 10_800 } };
  }
  fillZero(spec, 'type', 'ClusterIP');
  for (const port of records(spec['ports'])) {
    fillZero(port, 'protocol', 'TCP');
    fillZero(port, 'targetPort', int(port['port']));
  }
  const type = text(spec['type']);
  const balanced = type === 'LoadBalancer';
  const external = balanced || type === 'NodePort';
  const externalIPs = Array.isArray(spec['externalIPs']) && spec['externalIPs'].length > 0;
  if (external || (type === 'ClusterIP' && externalIPs)) fillZero(spec, 'externalTrafficPolicy', 'Cluster');
  if (external || type === 'ClusterIP') fill(spec, 'internalTrafficPolicy', 'Cluster');
  if (!balanced) return;
  fill(spec, 'allocateLoadBalancerNodePorts', true);
  for (const ingress of records(at(object, 'status', 'loadBalancer', 'ingress'))) {
    if (text(ingress['ip']) !== '') fill(ingress, 'ipMode', 'VIP');
  }
}

/** `stringData` is only a way of writing `data`. */
function secret(object: JsonObject): void {
  const plain = object['stringData'];
  if (isRecord(plain)) {
    const encoded = Object.entries(plain).map(([key, value]) => [
      key,
      Buffer.from(text(value), 'utf8').toString('base64'),
    ]);
    object['data'] = { ...record(object['data']), ...Object.fromEntries(encoded) };
  }
  delete object['stringData'];
  fillZero(object, 'type', 'Opaque');
}

function namespace(object: JsonObject): void {
  const metadata = child(object, 'metadata');
  const name = text(metadata['name']);
  if (name !== '')
    metadata['labels'] = { ...record(metadata['labels']), 'kubernetes.io/metadata.name': name };
}

function replicationController(object: JsonObject): void {
  const spec = child(object, 'spec');
  fill(spec, 'replicas', 1);
  const labels = record(at(spec, 'template', 'metadata', 'labels'));
  if (Object.keys(labels).length === 0) return;
  fillMap(spec, 'selector', { ...labels });
  fillMap(child(object, 'metadata'), 'labels', { ...labels });
}

function limitRangeItem(item: JsonObject): void {
  if (item['type'] === 'Container') {
    item['default'] = withMissing(item['default'], item['max']);
    item['defaultRequest'] = withMissing(withMissing(item['defaultRequest'], item['default']), item['min']);
  }
  roundResources(item, 'max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio');
}

function nodeStatus(status: JsonObject): void {
  if (isRecord(status['capacity'])) fill(status, 'allocatable', { ...status['capacity'] });
  roundResources(status, 'capacity', 'allocatable');
}

/** Two names for the first of a node's ranges; the old one decides. */
function nodeSpec(spec: JsonObject): void {
  const one = text(spec['podCIDR']);
  const all = strings(spec['podCIDRs']);
  if (one && all[0] !== one) spec['podCIDRs'] = [one];
  else if (!one && all[0]) spec['podCIDR'] = all[0];
}

export const coreDefaults: Defaulters = {
  'core.v1.Service': service,
  'core.v1.Secret': secret,
  'core.v1.Namespace': namespace,
  'core.v1.NamespaceStatus': (status) => fillZero(status, 'phase', 'Active'),
  'core.v1.ReplicationController': replicationController,
  'core.v1.LimitRangeItem': limitRangeItem,
  'core.v1.NodeSpec': nodeSpec,
  'core.v1.NodeStatus': nodeStatus,
  'core.v1.EndpointPort': (port) => fillZero(port, 'protocol', 'TCP'),
  'core.v1.PersistentVolume': (object) => {
    const spec = child(object, 'spec');
    fillZero(child(object, 'status'), 'phase', 'Pending');
    fillZero(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    fill(spec, 'volumeMode', 'Filesystem');
    roundResources(spec, 'capacity');
  },
  'core.v1.PersistentVolumeClaim': (object) => fillZero(child(object, 'status'), 'phase', 'Pending'),
  'core.v1.PersistentVolumeClaimSpec': (spec) => fill(spec, 'volumeMode', 'Filesystem'),
  'core.v1.PersistentVolumeClaimStatus': (status) => roundResources(status, 'capacity', 'allocatedResources'),
  'core.v1.ResourceQuotaSpec': (spec) => roundResources(spec, 'hard'),
  'core.v1.ResourceQuotaStatus': (status) => roundResources(status, 'hard', 'used'),
};
