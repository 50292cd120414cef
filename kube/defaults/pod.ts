import type { JsonObject } from '../object.ts';
import { addQuantity, formatQuantity, type Quantity } from '../quantity.ts';
import { at, int, isRecord, record, records, text } from '../untyped.ts';
import type { Defaulters } from './defaulter.ts';
import { child, fill, fillZero, withMissing } from './fill.ts';
import { defaultPullPolicy } from './image.ts';
import { canonicalQuantity, parseQuantity } from './quantity.ts';

/** Pods only: in a template requests stay as written, until a Pod is made of it. */
function pod(object: JsonObject): void {
  const spec = child(object, 'spec');
  const containers = requestLimits(spec);
  fill(spec, 'enableServiceLinks', true);
  if (int(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
  if (spec['hostNetwork'] !== true) return;
  for (const container of containers) {
    for (const port of records(container['ports'])) fillZero(port, 'hostPort', int(port['containerPort']));
  }
}

/** Who says a limit and no request asks for as much. Gives back its containers. */
export function requestLimits(spec: JsonObject): JsonObject[] {
  const containers = [...records(spec['containers']), ...records(spec['initContainers'])];
  for (const container of containers) {
    const limits = at(container, 'resources', 'limits');
    if (!isRecord(limits)) continue;
    const resources = child(container, 'resources');
    resources['requests'] = withMissing(resources['requests'], limits);
  }
  podLevelResources(spec, containers);
  return containers;
}

/** Pod-level requests: what its containers ask for, else the pod's own limit; cpu, memory and huge pages. */
export function podLevelResources(spec: JsonObject, containers: JsonObject[]): void {
  const limits = at(spec, 'resources', 'limits');
  if (!isRecord(limits)) return;
  const resources = child(spec, 'resources');
  const sums: Record<string, Quantity> = {};
  for (const container of containers) {
    for (const name of ['cpu', 'memory']) {
      const asked = parseQuantity(at(container, 'resources', 'requests', name));
      if (asked) sums[name] = sums[name] ? addQuantity(sums[name], asked) : asked;
    }
  }
  const asked = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, formatQuantity(sum)]));
  const supported = Object.entries(limits).filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name));
  resources['requests'] = withMissing(
    withMissing(resources['requests'], asked),
    Object.fromEntries(supported),
  );
}

function podSpec(spec: JsonObject): void {
  fillZero(spec, 'dnsPolicy', 'ClusterFirst');
  fillZero(spec, 'restartPolicy', 'Always');
  fill(spec, 'securityContext', {});
  fill(spec, 'terminationGracePeriodSeconds', 30);
  fillZero(spec, 'schedulerName', 'default-scheduler');
  // Two names for one field; both are written back.
  const account = text(spec['serviceAccountName']) || text(spec['serviceAccount']);
  if (account !== '') {
    spec['serviceAccountName'] = account;
    spec['serviceAccount'] = account;
  }
}

/** Two names for the first address; where they differ, the older one counts. */
function podStatus(status: JsonObject): void {
  const ip = text(status['podIP']);
  const first = text(records(status['podIPs'])[0]?.['ip']);
  if (ip === '' && first !== '') status['podIP'] = first;
  else if (ip !== first) status['podIPs'] = [{ ip }];
}

function container(object: JsonObject): void {
  fillZero(object, 'imagePullPolicy', defaultPullPolicy(text(object['image'])));
  fillZero(object, 'terminationMessagePath', '/dev/termination-log');
  fillZero(object, 'terminationMessagePolicy', 'File');
}

function probe(object: JsonObject): void {
  fillZero(object, 'timeoutSeconds', 1);
  fillZero(object, 'periodSeconds', 10);
  fillZero(object, 'successThreshold', 1);
  fillZero(object, 'failureThreshold', 3);
}

/** Resource lists keep thousandths at the finest. */
export function roundResources(object: JsonObject, ...fields: string[]): void {
  for (const field of fields) {
    const list = record(object[field]);
    if (!Object.hasOwn(object, field) || !isRecord(object[field])) continue;
    const entries = Object.entries(list).map(([name, value]) => [name, canonicalQuantity(value, true)]);
    object[field] = Object.fromEntries(entries) as JsonObject;
  }
}

export const podDefaults: Defaulters = {
  'core.v1.Pod': pod,
  'core.v1.PodStatus': podStatus,
  'core.v1.PodSpec': (spec) => {
    podSpec(spec);
    roundResources(spec, 'overhead');
  },
  'core.v1.Container': container,
  'core.v1.EphemeralContainer': container,
  'core.v1.Probe': probe,
  'core.v1.ContainerPort': (port) => fillZero(port, 'protocol', 'TCP'),
  'core.v1.ResourceRequirements': (resources) => roundResources(resources, 'limits', 'requests'),
  'core.v1.VolumeResourceRequirements': (resources) => roundResources(resources, 'limits', 'requests'),
  'core.v1.HTTPGetAction': (get) => {
    fillZero(get, 'path', '/');
    fillZero(get, 'scheme', 'HTTP');
  },
  'core.v1.GRPCAction': (grpc) => fill(grpc, 'service', ''),
  'core.v1.ObjectFieldSelector': (selector) => fillZero(selector, 'apiVersion', 'v1'),
  'core.v1.FileKeySelector': (selector) => fill(selector, 'optional', false),
};
