import { fillFromRanges, type Limit, limitsOf } from '../../kube/limit-range.ts';
import type { KubeObject } from '../../kube/object.ts';
import { approximateQuantity, compareQuantity, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { writeList } from '../../kube/quota/list.ts';
import { statedTotal } from '../../kube/quota/pod-resources.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { containersOf, isWriteOf, type Resources, refusal } from './pods.ts';

/** Gives containers what a LimitRange says, and refuses what it does not allow. https://kubernetes.io/docs/concepts/policy/limit-range/ */
export const limitRangerAdmission: AdmissionPlugin = {
  name: 'LimitRanger',
  mutate(request) {
    const { object } = request;
    return object && isOfPod(request) ? fillAll(request, object) : undefined;
  },
  validate(request) {
    const { object } = request;
    const claim = isWriteOf(request, '', 'persistentvolumeclaims', writes);
    return object && (claim || isOfPod(request)) ? check(request, object, claim) : undefined;
  },
};

const writes = ['CREATE', 'UPDATE'];

/** What a pod asks for is said when it is made, or when it is resized. */
function isOfPod(request: AdmissionRequest): boolean {
  const { stored, subresource, operation } = request;
  if (subresource !== 'resize') return isWriteOf(request, '', 'pods');
  return stored.info.group === '' && stored.info.resource === 'pods' && operation === 'UPDATE';
}

async function fillAll(request: AdmissionRequest, object: KubeObject): Promise<void> {
  fillFromRanges(object, await rangesOf(request));
}

/** One LimitRange after the other: who is refused by one is not told of the next. */
async function check(request: AdmissionRequest, object: KubeObject, claim: boolean): Promise<void> {
  for (const range of await rangesOf(request)) {
    const found = range.flatMap((limit) =>
      claim ? claimProblems(object, limit) : podProblems(object, limit),
    );
    const unique = [...new Set(found)];
    if (unique.length > 0)
      throw refusal(request, unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`);
  }
}

/** The limits of each LimitRange; none for what is being deleted. */
async function rangesOf({ registry, cluster, namespace, old }: AdmissionRequest): Promise<Limit[][]> {
  if (old?.metadata.deletionTimestamp !== undefined) return [];
  const items = await registry.recent({ cluster, group: '', resource: 'limitranges', namespace });
  return items.map(limitsOf);
}

function podProblems(pod: KubeObject, limit: Limit): string[] {
  if (limit.type === 'Container') {
    return (['containers', 'initContainers'] as const).flatMap((list) =>
      containersOf(pod, list).flatMap(({ resources }) => problems(limit, resources ?? {})),
    );
  }
  if (limit.type !== 'Pod') return [];
  const total = (kind: keyof Resources) => writeList(statedTotal(pod, kind));
  return problems(limit, { requests: total('requests'), limits: total('limits') });
}

function claimProblems(claim: KubeObject, limit: Limit): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return [];
  const { resources } = (claim.spec ?? {}) as { resources?: Resources };
  const requests = resources?.requests ?? {};
  const tooMuch = Object.entries(limit.max ?? {}).flatMap(([name, max]) =>
    exceeds(requests[name], max, 'maximum', name, limit.type),
  );
  return [...problems({ type: limit.type, ...(limit.min && { min: limit.min }) }, { requests }), ...tooMuch];
}

function exceeds(
  given: string | undefined,
  bound: string,
  word: string,
  name: string,
  type: string,
): string[] {
  const head = `${word} ${name} usage per ${type} is ${shown(bound)}`;
  if (given === undefined) return [`${head}.  No request is specified`];
  return compare(given, bound) > 0 ? [`${head}, but request is ${shown(given)}`] : [];
}

function problems(limit: Limit, { requests = {}, limits = {} }: Resources): string[] {
  const found: string[] = [];
  for (const [name, bound] of Object.entries(limit.min ?? {})) {
    const head = `minimum ${name} usage per ${limit.type} is ${shown(bound)}`;
    const [request, top] = [requests[name], limits[name]];
    if (request === undefined) found.push(`${head}.  No request is specified`);
    else if (compare(request, bound) < 0) found.push(`${head}, but request is ${shown(request)}`);
    else if (top !== undefined && compare(top, bound) < 0) found.push(`${head}, but limit is ${shown(top)}`);
  }
  for (const [name, bound] of Object.entries(limit.max ?? {})) {
    const head = `maximum ${name} usage per ${limit.type} is ${shown(bound)}`;
    const [request, top] = [requests[name], limits[name]];
    if (top === undefined) found.push(`${head}.  No limit is specified`);
    else if (compare(top, bound) > 0) found.push(`${head}, but limit is ${shown(top)}`);
    else if (request !== undefined && compare(request, bound) > 0) {
      found.push(`${head}, but request is ${shown(request)}`);
    }
  }
  for (const [name, bound] of Object.entries(limit.maxLimitRequestRatio ?? {})) {
    const head = `${name} max limit to request ratio per ${limit.type} is ${shown(bound)}`;
    const [request, top] = [number(requests[name]), number(limits[name])];
    if (request === 0) found.push(`${head}, but no request is specified or request is 0`);
    else if (top === 0) found.push(`${head}, but no limit is specified or limit is 0`);
    else if (top / request > number(bound)) {
      found.push(`${head}, but provided ratio is ${(top / request).toFixed(6)}`);
    }
  }
  return found;
}

const compare = (a: string, b: string) => compareQuantity(parseQuantity(a), parseQuantity(b));
const shown = (text: string) => formatQuantity(parseQuantity(text));
const number = (text: string | undefined) =>
  text === undefined ? 0 : approximateQuantity(parseQuantity(text));
