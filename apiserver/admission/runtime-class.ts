import { given } from '../../kube/defaults/empty.ts';
import type { KubeObject } from '../../kube/object.ts';
import { readList, sameList } from '../../kube/quota/list.ts';
import { isStatusError, StatusError } from '../../kube/status.ts';
import { at, isRecord, mapAt, records } from '../../kube/untyped.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isWriteOf, refusal, specOf, staysHere } from './pods.ts';
import { mergedTolerations } from './tolerations.ts';

const classes = { group: 'node.k8s.io', resource: 'runtimeclasses' };

/**
 * A Pod's RuntimeClass says what it takes beside its containers, and which nodes may run it. The class is one of its logical
 * cluster; where the Pod is placed, its cluster has one of that name, or refuses it.
 * https://kubernetes.io/docs/concepts/containers/runtime-class/
 */
export const runtimeClassAdmission: AdmissionPlugin = {
  name: 'RuntimeClass',
  async mutate(request) {
    const { object } = request;
    if (!object || !isWriteOf(request, '', 'pods')) return;
    const spec = specOf(object);
    const found = await classOf(request, spec);
    const overhead = overheadOf(found);
    if (overhead) {
      const own = readList(spec['overhead']);
      if (own.size > 0 && !sameList(own, readList(overhead))) throw refusal(request, unlike);
      if (Object.keys(overhead).length > 0) spec['overhead'] = overhead;
      else delete spec['overhead'];
    }
    if (isRecord(found?.['scheduling'])) schedule(request, spec, found['scheduling']);
  },
  async validate(request) {
    const { object } = request;
    if (!object) return;
    if (isWriteOf(request, classes.group, classes.resource, ['CREATE', 'UPDATE']))
      return staysHere(request, 'RuntimeClass');
    if (!isWriteOf(request, '', 'pods')) return;
    const { overhead } = specOf(object);
    const wanted = overheadOf(await classOf(request, specOf(object)));
    if (!wanted && given(specOf(object), 'overhead') !== null)
      throw refusal(
        request,
        'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      );
    if (wanted && !sameList(readList(overhead), readList(wanted))) throw refusal(request, unlike);
  },
};

const unlike = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** Undefined: the Pod names none. */
async function classOf(
  request: AdmissionRequest,
  { runtimeClassName }: Record<string, unknown>,
): Promise<KubeObject | undefined> {
  if (typeof runtimeClassName !== 'string') return undefined;
  const problem = pathProblem(runtimeClassName);
  if (problem !== undefined) throw new StatusError(500, '', problem);
  try {
    return await request.registry.get({ ...classes, cluster: request.cluster, name: runtimeClassName });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  }
}

/** A name that fits in no path is refused by Kubernetes' client before anybody is asked. */
function pathProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty';
  if (name === '.' || name === '..')
    return `invalid resource name ${JSON.stringify(name)}: [may not be '${name}']`;
  const illegal = ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
  if (illegal.length === 0) return undefined;
  return `invalid resource name ${JSON.stringify(name)}: [${illegal.join(' ')}]`;
}

/** Undefined: it says nothing of any; an empty one says that there is none. */
function overheadOf(found: KubeObject | undefined): Record<string, unknown> | undefined {
  if (!isRecord(found?.['overhead'])) return undefined;
  const fixed = at(found['overhead'], 'podFixed');
  return isRecord(fixed) ? { ...fixed } : {};
}

function schedule(request: AdmissionRequest, spec: Record<string, unknown>, scheduling: object): void {
  const own = mapAt(spec, 'nodeSelector') ?? {};
  const wanted = mapAt(scheduling, 'nodeSelector') ?? {};
  for (const [key, value] of Object.entries(wanted)) {
    const said = Object.hasOwn(own, key) ? own[key] : value;
    if (said !== value) {
      const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${said}`;
      throw refusal(request, why);
    }
  }
  const selector = { ...own, ...wanted };
  if (Object.keys(selector).length > 0) spec['nodeSelector'] = selector;
  const tolerations = mergedTolerations([
    ...records(spec['tolerations']),
    ...records(at(scheduling, 'tolerations')),
  ]);
  if (tolerations.length > 0) spec['tolerations'] = tolerations;
}
