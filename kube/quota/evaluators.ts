import type { KubeObject } from '../object.ts';
import { compareQuantity, parseQuantity, type Quantity, scaledQuantity } from '../quantity.ts';
import { at, records, text, textAt } from '../untyped.ts';
import { type Change, countName, type Evaluator } from './evaluator.ts';
import { one, readList } from './list.ts';
import { namesMatch } from './scope.ts';

const zero = parseQuantity('0');
const isWrite = ({ operation, subresource }: Change) =>
  subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
const count = (n: number) => parseQuantity(String(n));

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

/** The type of a Service changes, and with it what it uses. */
export const serviceEvaluator: Evaluator = {
  group: '',
  resource: 'services',
  handles: isWrite,
  counts: (name) => serviceNames.has(name),
  usage(service) {
    const type = textAt(service, 'spec', 'type');
    const ports = records(at(service, 'spec', 'ports'));
    const isLoadBalancer = type === 'LoadBalancer';
    // Of a load balancer that asks for none, only those with a number are allocated.
    const given = isLoadBalancer && at(service, 'spec', 'allocateLoadBalancerNodePorts') === false;
    const used = given ? ports.filter(({ nodePort }) => Boolean(nodePort)) : ports;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.loadbalancers', isLoadBalancer ? one : zero],
      ['services.nodeports', isLoadBalancer || type === 'NodePort' ? count(used.length) : zero],
    ]);
  },
  matches: () => false,
};

const claimNames = ['persistentvolumeclaims', 'requests.storage'];
const byClass = '.storageclass.storage.k8s.io/';

export const claimEvaluator: Evaluator = {
  group: '',
  resource: 'persistentvolumeclaims',
  handles: (change) => isWrite(change) || change.subresource === 'status',
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    claimNames.some((known) => name === known || name.endsWith(`${byClass}${known}`)),
  usage(claim) {
    const usage = new Map([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ]);
    const storageClass =
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
      textAt(claim, 'spec', 'storageClassName') ??
      '';
    const storage = storageOf(claim);
    if (storage) usage.set('requests.storage', storage);
    if (storageClass === '') return usage;
    usage.set(`${storageClass}${byClass}persistentvolumeclaims`, one);
    if (storage) usage.set(`${storageClass}${byClass}requests.storage`, storage);
    return usage;
  },
  matches: (scope, claim) =>
    scope.name === 'VolumeAttributesClass' && namesMatch(scope, attributesClassesOf(claim)),
};

/** What is allocated counts while it is more than what is asked for. */
function storageOf(claim: KubeObject): Quantity | undefined {
  const asked = readList(at(claim, 'spec', 'resources', 'requests')).get('storage');
  const allocated = readList(at(claim, 'status', 'allocatedResources')).get('storage');
  if (asked === undefined) return undefined;
  const whole = wholeBytes(asked);
  return allocated !== undefined && compareQuantity(allocated, whole) > 0 ? wholeBytes(allocated) : whole;
}

function wholeBytes(amount: Quantity): Quantity {
  const rounded = { value: scaledQuantity(amount), scale: 0, format: amount.format };
  return compareQuantity(rounded, amount) === 0 ? amount : rounded;
}

function attributesClassesOf(claim: KubeObject): string[] {
  const names = [
    textAt(claim, 'spec', 'volumeAttributesClassName'),
    textAt(claim, 'status', 'currentVolumeAttributesClassName'),
    textAt(claim, 'status', 'modifyVolumeStatus', 'targetVolumeAttributesClassName'),
  ];
  return [...new Set(names.filter((name): name is string => Boolean(name)))];
}

const perDeviceClass = '.deviceclass.resource.k8s.io/devices';
/** The most devices that a claim can be allocated. */
const mostDevices = 32;
const deviceCount = countName('resource.k8s.io', 'resourceclaims');

/** By device class. Devices that a class gives to pods under the name of an extended resource are not counted here. */
export const deviceClaimEvaluator: Evaluator = {
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  handles: isWrite,
  counts: (name) => name === deviceCount || name.endsWith(perDeviceClass),
  usage(claim) {
    const devices = new Map<string, number>();
    for (const request of records(at(claim, 'spec', 'devices', 'requests'))) {
      const choices = records(request['firstAvailable']);
      const most = new Map<string, number>();
      const asked = choices.length > 0 ? choices : records([request['exactly']]);
      for (const choice of asked) {
        const name = text(choice['deviceClassName']);
        if (name !== '') most.set(name, Math.max(most.get(name) ?? 0, devicesOf(choice)));
      }
      for (const [name, n] of most) devices.set(name, (devices.get(name) ?? 0) + n);
    }
    return new Map([
      [deviceCount, one],
      ...[...devices].map(([name, n]) => [`${name}${perDeviceClass}`, count(n)] as const),
    ]);
  },
  matches: () => false,
};

function devicesOf({ allocationMode, count: asked }: Record<string, unknown>): number {
  if (allocationMode === 'All') return mostDevices;
  return allocationMode === 'ExactCount' && typeof asked === 'number' ? asked : 0;
}

/** Counted under a short name, too. */
const aliases: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  resourcequotas: 'resourcequotas',
  replicationcontrollers: 'replicationcontrollers',
  secrets: 'secrets',
};

/** Of any other resource: how many there are. */
export function countEvaluator(group: string, resource: string): Evaluator {
  const alias = group === '' && Object.hasOwn(aliases, resource) ? aliases[resource] : undefined;
  const names = [countName(group, resource), ...(alias === undefined ? [] : [alias])];
  const usage = new Map(names.map((name) => [name, one]));
  return {
    group,
    resource,
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    usage: () => usage,
    matches: () => false,
  };
}
