import type { JsonObject } from '../object.ts';
import { timestamp } from '../timestamp.ts';
import { isRecord, records } from '../untyped.ts';
import type { Defaulter, Defaulters } from './defaulter.ts';
import { child, fill, fillList, fillZero } from './fill.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const roleRef: Defaulter = (object) => fillZero(child(object, 'roleRef'), 'apiGroup', rbacGroup);

const deviceCount: Defaulter = (request) => {
  fillZero(request, 'allocationMode', 'ExactCount');
  if (request['allocationMode'] === 'ExactCount') fillZero(request, 'count', 1);
};

function networkPolicy(object: JsonObject): void {
  const spec = child(object, 'spec');
  const egress = records(spec['egress']).length > 0;
  fillList(spec, 'policyTypes', egress ? ['Ingress', 'Egress'] : ['Ingress']);
}

function csiDriver(object: JsonObject): void {
  const spec = child(object, 'spec');
  fill(spec, 'attachRequired', true);
  fill(spec, 'podInfoOnMount', false);
  fill(spec, 'storageCapacity', false);
  fill(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  fillList(spec, 'volumeLifecycleModes', ['Persistent']);
  fill(spec, 'requiresRepublish', false);
  fill(spec, 'seLinuxMount', false);
}

export const clusterDefaults: Defaulters = {
  'rbac.v1.RoleBinding': roleRef,
  'rbac.v1.ClusterRoleBinding': roleRef,
  'rbac.v1.Subject': (subject) => {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') fillZero(subject, 'apiGroup', rbacGroup);
  },
  'networking.v1.NetworkPolicy': networkPolicy,
  'networking.v1.NetworkPolicyPort': (port) => fill(port, 'protocol', 'TCP'),
  'networking.v1.IngressClass': (object) => {
    const parameters = child(object, 'spec')['parameters'];
    if (isRecord(parameters)) fill(parameters, 'scope', 'Cluster');
  },
  'discovery.v1.EndpointPort': (port) => {
    fill(port, 'name', '');
    fill(port, 'protocol', 'TCP');
  },
  'storage.v1.StorageClass': (object) => {
    fill(object, 'reclaimPolicy', 'Delete');
    fill(object, 'volumeBindingMode', 'Immediate');
  },
  'storage.v1.CSIDriver': csiDriver,
  'scheduling.v1.PriorityClass': (object) => fill(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  'flowcontrol.v1.FlowSchemaSpec': (spec) => fillZero(spec, 'matchingPrecedence', 1000),
  'flowcontrol.v1.ExemptPriorityLevelConfiguration': (level) => {
    fill(level, 'nominalConcurrencyShares', 0);
    fill(level, 'lendablePercent', 0);
  },
  'flowcontrol.v1.LimitedPriorityLevelConfiguration': (level) => {
    fill(level, 'nominalConcurrencyShares', 30);
    fill(level, 'lendablePercent', 0);
  },
  'flowcontrol.v1.QueuingConfiguration': (queuing) => {
    fillZero(queuing, 'handSize', 8);
    fillZero(queuing, 'queues', 64);
    fillZero(queuing, 'queueLengthLimit', 50);
  },
  'resource.v1.ExactDeviceRequest': deviceCount,
  'resource.v1.DeviceSubRequest': deviceCount,
  'resource.v1.DeviceToleration': (toleration) => fillZero(toleration, 'operator', 'Equal'),
  'resource.v1.DeviceTaint': (taint) => fill(taint, 'timeAdded', timestamp()),
};
