import { andThen } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from '../../kube/quantity.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { containersOf, type Resources, refusal } from './pods.ts';

/** Counted under a short name as well as `count/<resource>.<group>`. */
const shortNames: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  persistentvolumeclaims: 'persistentvolumeclaims',
  pods: 'pods',
  replicationcontrollers: 'replicationcontrollers',
  resourcequotas: 'resourcequotas',
  secrets: 'secrets',
  services: 'services',
};
const computed = /^(requests|limits)\.(cpu|memory|ephemeral-storage)$/;

/**
 * No more in a namespace than its ResourceQuotas say. What is used is counted, not remembered: it is right also when
 * something went without anybody saying so. https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export const quotaAdmission: AdmissionPlugin = {
  name: 'ResourceQuota',
  validate(request) {
    const { operation, subresource, object, namespace, cluster, registry } = request;
    if (operation !== 'CREATE' || subresource !== '' || !object || namespace === '') return undefined;
    const quotas = registry.recent({ cluster, group: '', resource: 'resourcequotas', namespace });
    return andThen(quotas, (found) => (found.length > 0 ? checkAll(request, object, found) : undefined));
  },
};

async function checkAll(
  request: AdmissionRequest,
  object: KubeObject,
  quotas: readonly KubeObject[],
): Promise<void> {
  const { stored, namespace, cluster, registry } = request;
  const concerned = quotas.filter((quota) => !isScoped(quota));
  if (concerned.length === 0) return;
  const { group, resource } = stored.info;
  const asks = usageOf(object, group, resource);
  const others = await registry.list({ cluster, group, resource, namespace });
  const used = others.items.filter(isLive).map((one) => usageOf(one, group, resource));
  for (const quota of concerned) check(request, quota, asks, used);
}

type Usage = Map<string, Quantity>;

function check(request: AdmissionRequest, quota: KubeObject, asks: Usage, used: readonly Usage[]): void {
  const { hard = {} } = (quota.spec ?? {}) as { hard?: Record<string, string> };
  const name = quota.metadata.name ?? '';
  const missing = request.object ? unspecified(request, Object.keys(hard)) : [];
  if (missing.length > 0) throw refusal(request, `failed quota: ${name}: must specify ${missing.join('; ')}`);
  const over: { name: string; asked: Quantity; used: Quantity; hard: Quantity }[] = [];
  for (const key of Object.keys(hard).sort()) {
    const asked = asks.get(canonical(key));
    if (asked === undefined) continue;
    const limit = parseQuantity(hard[key] ?? '0');
    const before = used.reduce(
      (sum, usage) => addQuantity(sum, usage.get(canonical(key)) ?? zeroQuantity),
      zeroQuantity,
    );
    const total = addQuantity(before, asked);
    if (compareQuantity(total, limit) > 0) over.push({ name: key, asked, used: before, hard: limit });
  }
  if (over.length === 0) return;
  const list = (of: 'asked' | 'used' | 'hard') =>
    over.map((one) => `${one.name}=${formatQuantity(one[of])}`).join(',');
  throw refusal(
    request,
    `exceeded quota: ${name}, requested: ${list('asked')}, used: ${list('used')}, limited: ${list('hard')}`,
  );
}

/** `cpu` and `memory` are what is requested of them. */
function canonical(key: string): string {
  return key === 'cpu' || key === 'memory' || key === 'ephemeral-storage' ? `requests.${key}` : key;
}

function usageOf(object: KubeObject, group: string, resource: string): Usage {
  const one = parseQuantity('1');
  const usage: Usage = new Map([[`count/${group === '' ? resource : `${resource}.${group}`}`, one]]);
  if (group !== '') return usage;
  const short = Object.hasOwn(shortNames, resource) ? shortNames[resource] : undefined;
  if (short !== undefined) usage.set(short, one);
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  if (resource === 'services') {
    const { type, ports } = spec as { type?: string; ports?: unknown[] };
    if (type === 'LoadBalancer') usage.set('services.loadbalancers', one);
    if (type === 'LoadBalancer' || type === 'NodePort') {
      usage.set('services.nodeports', parseQuantity(ports?.length ?? 0));
    }
  }
  if (resource === 'persistentvolumeclaims') {
    const { storage } = (spec['resources'] as Resources | undefined)?.requests ?? {};
    if (storage !== undefined) usage.set('requests.storage', parseQuantity(storage));
  }
  if (resource === 'pods') addCompute(usage, object);
  return usage;
}

function addCompute(usage: Usage, pod: KubeObject): void {
  for (const { resources } of containersOf(pod, 'containers')) {
    for (const kind of ['requests', 'limits'] as const) {
      for (const [name, value] of Object.entries(resources?.[kind] ?? {})) {
        const key = `${kind}.${name}`;
        usage.set(key, addQuantity(usage.get(key) ?? zeroQuantity, parseQuantity(value)));
      }
    }
  }
}

/** Compute resources that a quota limits must be stated by every container. */
function unspecified({ object, stored: { info } }: AdmissionRequest, keys: readonly string[]): string[] {
  if (!object || info.group !== '' || info.resource !== 'pods') return [];
  return [...keys].sort().flatMap((given) => {
    const match = computed.exec(canonical(given));
    if (match === null) return [];
    const [kind, name = ''] = [match[1] as keyof Resources, match[2]];
    const without = [...containersOf(object, 'initContainers'), ...containersOf(object, 'containers')].filter(
      ({ resources }) => resources?.[kind]?.[name] === undefined,
    );
    return without.length === 0 ? [] : [`${given} for: ${without.map((one) => one.name).join(',')}`];
  });
}

function isScoped({ spec }: KubeObject): boolean {
  const { scopes, scopeSelector } = (spec ?? {}) as { scopes?: unknown[]; scopeSelector?: unknown };
  return (scopes?.length ?? 0) > 0 || (scopeSelector !== undefined && scopeSelector !== null);
}

/** A Pod that has ended uses nothing. */
function isLive({ kind, status }: KubeObject): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return kind !== 'Pod' || (phase !== 'Succeeded' && phase !== 'Failed');
}
