import type { KubeObject } from '../../../kube/object.ts';
import { timeError } from '../../../kube/schema/mismatch.ts';
import { badRequest, invalid, type StatusCause } from '../../../kube/status.ts';
import { Field } from '../../../kube/validation/field.ts';
import { parseInteger } from '../lists/options.ts';

interface PodSpec {
  initContainers?: { name?: string }[];
  containers?: { name?: string }[];
  ephemeralContainers?: { name?: string }[];
  nodeName?: string;
}

/**
 * What kube-apiserver says of a stream of a pod that runs nowhere: which container is meant comes first. Throws
 * StatusError 400.
 */
export function refuseStream(pod: KubeObject, subresource: string, query: URLSearchParams): never {
  const { name = '' } = pod.metadata;
  if (subresource !== 'portforward') checkContainer(pod, query.get('container') ?? '');
  if (!hasNode(pod)) throw badRequest(`pod ${name} does not have a host assigned`);
  throw badRequest(`pod ${name} runs on no cluster that can be reached`);
}

export function hasNode({ spec }: KubeObject): boolean {
  return Boolean((spec as PodSpec | undefined)?.nodeName);
}

/** Throws StatusError 400 where it is not clear which container is meant. */
export function checkContainer(pod: KubeObject, asked: string): void {
  const { name = '' } = pod.metadata;
  const { initContainers, containers, ephemeralContainers } = (pod.spec ?? {}) as PodSpec;
  const all = [initContainers, containers, ephemeralContainers].flatMap((list) => list ?? []);
  const names = all.map((container) => container.name ?? '');
  if (asked !== '') {
    if (names.includes(asked)) return;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const count = containers?.length ?? 0;
  if (count === 1) return;
  const choice = count === 0 ? '' : `, choose one of: [${names.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${name}${choice}`);
}

/** Throws StatusError 400. */
export function checkPorts(query: URLSearchParams): void {
  for (const port of query.getAll('ports')) {
    if (/^\d+$/.test(port)) continue;
    throw badRequest(
      `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(port)}: invalid syntax`,
    );
  }
}

/**
 * The options of a log, by their names in a query. Throws StatusError 400 for what is no number or time, 422 for what
 * no log has. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#read-log
 */
export function checkLogOptions(name: string, query: URLSearchParams): void {
  const causes: StatusCause[] = [];
  const field = new Field(causes);
  const since = query.get('sinceTime');
  const wrong = since ? timeError(since, false) : undefined;
  if (wrong !== undefined) throw badRequest(wrong);
  const [tail, limit, seconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map((key) =>
    parseInteger(query.get(key)),
  );
  if (tail !== undefined && tail < 0)
    field.child('tailLines').invalid(tail, 'must be greater than or equal to 0');
  if (limit !== undefined && limit < 1) field.child('limitBytes').invalid(limit, 'must be greater than 0');
  if (seconds !== undefined && since)
    field.child('[]').forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else if (seconds !== undefined && seconds < 1)
    field.child('sinceSeconds').invalid(seconds, 'must be greater than 0');
  if (query.has('stream')) field.child('stream').forbidden('may not be specified');
  if (causes.length > 0) throw invalid('', 'PodLogOptions', name, causes);
}
