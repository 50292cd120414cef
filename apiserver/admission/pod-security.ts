import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { inDetail, violationsOf } from '../../kube/pod-security/evaluate.ts';
import type { PodLike } from '../../kube/pod-security/pod.ts';
import {
  type PodSecurity,
  podSecurityOf,
  podSecurityPrefix,
  type Standard,
  standardName,
} from '../../kube/pod-security/policy.ts';
import { invalid } from '../../kube/status.ts';
import { at, isRecord, mapAt, records, textAt } from '../../kube/untyped.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { warnOfPods } from './pod-security-namespace.ts';
import { refusal } from './pods.ts';

/** Where a kind has a template of pods. */
const templates: Readonly<Record<string, readonly string[]>> = {
  '/replicationcontrollers': ['spec', 'template'],
  '/podtemplates': ['template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
};
/** Of a Pod: what changes nothing of what it may. */
const ignored = ['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'];

/**
 * Pods that violate what their Namespace's labels enforce are refused; whoever writes one, or what makes some, is warned, and
 * it is recorded. What workloads make is made on physical clusters, which judge it by the labels of theirs: cluster/namespace-labels.ts.
 * https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
export const podSecurityAdmission: AdmissionPlugin = {
  name: 'PodSecurity',
  validate(request) {
    const { stored, subresource, object, operation } = request;
    if (!object || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined;
    const kind = `${stored.info.group}/${stored.info.resource}`;
    if (kind === '/pods')
      return ignored.includes(subresource) || !isSignificant(request, object)
        ? undefined
        : judge(request, podIn(object), true);
    if (subresource !== '') return undefined;
    if (kind === '/namespaces') return checkNamespace(request, object);
    const path = Object.hasOwn(templates, kind) ? templates[kind] : undefined;
    const template = path && at(object, ...path);
    return isRecord(template) ? judge(request, podIn(template), false) : undefined;
  },
};

function podIn(object: KubeObject | JsonObject): PodLike {
  const spec = at(object, 'spec');
  return { annotations: mapAt(object, 'metadata', 'annotations') ?? {}, spec: isRecord(spec) ? spec : {} };
}

async function judge(request: AdmissionRequest, pod: PodLike, enforced: boolean): Promise<void> {
  const { policy, causes } = podSecurityOf((await namespaceOf(request)).metadata.labels);
  const annotate = (key: string, value: string) => request.annotate?.(`${podSecurityPrefix}${key}`, value);
  if (causes.length > 0) annotate('error', `Failed to parse policy: ${aggregate(causes)}`);
  if (isOpen(policy, enforced)) {
    if (enforced)
      annotate('enforce-policy', standardName({ ...policy.enforce, minor: Number.POSITIVE_INFINITY }));
    return;
  }
  const found = (standard: Standard) => inDetail(violationsOf(standard, pod));
  const would = (standard: Standard, what: string) =>
    `would violate PodSecurity "${standardName(standard)}": ${what}`;
  if (enforced) annotate('enforce-policy', standardName(policy.enforce));
  const audited = found(policy.audit);
  if (audited !== '') annotate('audit-violations', would(policy.audit, audited));
  const violated = enforced ? found(policy.enforce) : '';
  if (violated !== '')
    throw refusal(request, `violates PodSecurity "${standardName(policy.enforce)}": ${violated}`);
  const warned = found(policy.warn);
  if (warned !== '') request.warn(would(policy.warn, warned));
}

async function namespaceOf({ cluster, namespace, registry }: AdmissionRequest): Promise<KubeObject> {
  const address = { cluster, group: '', resource: 'namespaces', name: namespace };
  const [known] = await registry.recent(address);
  return known ?? (await registry.get(address));
}

function isOpen({ enforce, audit, warn }: PodSecurity, enforced: boolean): boolean {
  return [...(enforced ? [enforce] : []), audit, warn].every(({ level }) => level === 'privileged');
}

/** As Go shows several errors. */
function aggregate(causes: readonly { field?: string; message?: string }[]): string {
  const all = causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
  return all.length > 1 ? `[${all.join(', ')}]` : all.join('');
}

/** A Pod that is changed is judged anew where it gets other containers, or other images. */
function isSignificant({ operation, old }: AdmissionRequest, object: KubeObject): boolean {
  if (operation !== 'UPDATE' || !old) return true;
  const [now, before] = [podIn(object).spec, podIn(old).spec];
  const imagesOf = (containers: readonly JsonObject[]) =>
    containers.map((one) => textAt(one, 'image')).join('\n');
  for (const list of ['containers', 'initContainers']) {
    const [a, b] = [records(now[list]), records(before[list])];
    if (a.length !== b.length || imagesOf(a) !== imagesOf(b)) return true;
  }
  const known = records(before['ephemeralContainers']);
  return records(now['ephemeralContainers']).some(
    (one) => !known.some((other) => other['name'] === one['name'] && other['image'] === one['image']),
  );
}

/** Its labels must say something, and whoever enforces more is warned of the pods that are there. */
async function checkNamespace(request: AdmissionRequest, namespace: KubeObject): Promise<void> {
  const now = podSecurityOf(namespace.metadata.labels);
  const old =
    request.operation === 'UPDATE' && request.old ? podSecurityOf(request.old.metadata.labels) : undefined;
  if (now.causes.length > 0 && aggregate(now.causes) !== aggregate(old?.causes ?? [])) {
    const { group, kind } = request.requested.info;
    throw invalid(group, kind, request.name, now.causes);
  }
  if (old) await warnOfPods(request, { before: old.policy.enforce, now: now.policy.enforce });
}
