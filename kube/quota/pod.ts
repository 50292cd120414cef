import { validateQualifiedName } from '../names.ts';
import type { KubeObject } from '../object.ts';
import type { Quantity } from '../quantity.ts';
import { podQosClass } from '../strategy/qos.ts';
import { at, isRecord, numberAt, records, text, textAt } from '../untyped.ts';
import type { Change, Evaluator } from './evaluator.ts';
import { one, type ResourceList, sortedNames } from './list.ts';
import { hasPodLevelResources, podLimits, podRequests } from './pod-resources.ts';
import { namesMatch, type Scope } from './scope.ts';

const computed = ['cpu', 'memory', 'ephemeral-storage'];
const counted = new Set([
  'count/pods',
  'pods',
  ...computed.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Where a quota bounds one of these, each container has to state it. Upstream calls that a mistake, and keeps it. */
const required = new Set(['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]));
const deviceClass = 'deviceclass.resource.kubernetes.io/';

export const podEvaluator: Evaluator = {
  group: '',
  resource: 'pods',
  handles({ operation, subresource, object, old }: Change): boolean {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    if (operation === 'UPDATE') return old !== undefined && hasDeadline(old) !== hasDeadline(object);
    return operation === 'CREATE';
  },
  counts: (name) =>
    counted.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    isExtendedRequest(name),
  usage(pod, now) {
    const usage = new Map([['count/pods', one]]);
    if (!isCharged(pod, now)) return usage;
    addCompute(usage, podRequests(pod), podLimits(pod));
    return usage;
  },
  matches,
  missing(names, pod) {
    if (hasPodLevelResources(pod)) return undefined;
    const needed = sortedNames(names).filter((name) => required.has(name));
    const told = needed.flatMap((name) => {
      const without = [...containers(pod, 'containers'), ...containers(pod, 'initContainers')].filter(
        (container) => !states(container, name),
      );
      return without.length === 0
        ? []
        : [`${name} for: ${sortedNames(without.map((container) => text(container['name']))).join(',')}`];
    });
    return told.length === 0 ? undefined : `must specify ${told.join('; ')}`;
  },
};

function containers(pod: KubeObject, list: string): Record<string, unknown>[] {
  return records(at(pod, 'spec', list));
}

function states(container: Record<string, unknown>, name: string): boolean {
  const [kind, of] = name.includes('.') ? (name.split('.') as [string, string]) : ['requests', name];
  return at(container, 'resources', kind, of) !== undefined;
}

function hasDeadline(pod: KubeObject): boolean {
  return (numberAt(pod, 'spec', 'activeDeadlineSeconds') ?? -1) >= 0;
}

/** When a pod that does not come to its end stops counting; undefined: it has no end, or none is known. */
export function uncountedFrom({ metadata }: KubeObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return undefined;
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function isCharged(pod: KubeObject, now: number): boolean {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  const end = uncountedFrom(pod);
  return end === undefined || now <= end;
}

function addCompute(usage: Map<string, Quantity>, requests: ResourceList, limits: ResourceList): void {
  usage.set('pods', one);
  for (const name of computed) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request).set(`requests.${name}`, request);
    else if (isExtended(name)) usage.set(`requests.${name}`, request);
  }
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function isExtended(name: string): boolean {
  if (name.startsWith(deviceClass)) return true;
  if (isNative(name) || name.startsWith('requests.')) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

function isExtendedRequest(name: string): boolean {
  return name.startsWith('requests.') && (!isNative(name) || name.startsWith(`requests.${deviceClass}`));
}

function matches(scope: Scope, pod: KubeObject): boolean {
  switch (scope.name) {
    case 'Terminating':
      return hasDeadline(pod);
    case 'NotTerminating':
      return !hasDeadline(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass': {
      const name = textAt(pod, 'spec', 'priorityClassName') ?? '';
      return namesMatch(scope, name === '' ? [] : [name]);
    }
    case 'CrossNamespacePodAffinity':
      return looksBeyondNamespace(pod);
    default:
      return false;
  }
}

function isBestEffort(pod: KubeObject): boolean {
  return (textAt(pod, 'status', 'qosClass') || podQosClass(pod)) === 'BestEffort';
}

function looksBeyondNamespace(pod: KubeObject): boolean {
  return ['podAffinity', 'podAntiAffinity'].some((affinity) => {
    const terms = (list: string) => records(at(pod, 'spec', 'affinity', affinity, list));
    return [
      ...terms('requiredDuringSchedulingIgnoredDuringExecution'),
      ...terms('preferredDuringSchedulingIgnoredDuringExecution').map((term) => term['podAffinityTerm']),
    ].some((term) => {
      const namespaces = at(term, 'namespaces');
      return (Array.isArray(namespaces) && namespaces.length > 0) || isRecord(at(term, 'namespaceSelector'));
    });
  });
}
