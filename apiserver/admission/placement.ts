import {
  clustersAnnotation,
  group,
  placedByAnnotation,
  rootCluster,
  schedulerUser,
} from '../../cluster/names.ts';
import { formatClusters, parseClusters } from '../../cluster/placement.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../options.ts';

/**
 * Guards the one attribute, atoll.dev/clusters, on Namespaces and namespaced objects:
 * - whoever writes it is recorded in atoll.dev/placed-by, which nobody can set themselves;
 * - names of clusters that do not exist are refused, before anything is stored;
 * - the scheduler's value survives a replace that does not mention it; a user's goes when the user removes it.
 */
export const placementAdmission: AdmissionPlugin = {
  name: 'Placement',
  mutate(request) {
    if (!applies(request) || !request.object) return;
    const object = request.object;
    const [before, after] = [wantedBy(request.old), wantedBy(object)];
    const author = request.old?.metadata.annotations?.[placedByAnnotation];
    if (request.user.name === schedulerUser)
      return stamp(object, after === undefined ? undefined : schedulerUser);
    if (after === undefined && before !== undefined && author === schedulerUser) {
      annotate(object, clustersAnnotation, before);
      return stamp(object, author);
    }
    if (after === undefined) return stamp(object, undefined);
    stamp(object, after === before ? author : request.user.name);
  },
  validate(request) {
    if (!applies(request) || !request.object) return;
    const after = wantedBy(request.object);
    if (after === undefined || after === wantedBy(request.old)) return;
    return refuseUnknown(request, request.object, after);
  },
};

function applies(request: AdmissionRequest): boolean {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return false;
  if (request.subresource !== '') return false;
  const { info } = request.stored;
  return info.namespaced || (info.group === '' && info.resource === 'namespaces');
}

async function refuseUnknown(request: AdmissionRequest, object: KubeObject, value: string): Promise<void> {
  const scope = { cluster: rootCluster, group, resource: 'physicalclusters' };
  const { items } = await request.registry.list(scope);
  const known = items.map((cluster) => cluster.metadata.name ?? '');
  const unknown = parseClusters(value).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const { info } = request.stored;
  const choice = known.length > 0 ? `known: ${formatClusters(known)}` : 'none is registered yet';
  throw invalid(info.group, info.kind, object.metadata.name ?? '', [
    {
      reason: 'FieldValueInvalid',
      field: `metadata.annotations[${clustersAnnotation}]`,
      message: `Invalid value: ${JSON.stringify(value)}: no physical cluster is named ${unknown.join(', ')}; ${choice}`,
    },
  ]);
}

function wantedBy(object: KubeObject | undefined): string | undefined {
  return object?.metadata.annotations?.[clustersAnnotation];
}

function stamp(object: KubeObject, author: string | undefined): void {
  annotate(object, placedByAnnotation, author);
}

function annotate(object: KubeObject, key: string, value: string | undefined): void {
  const there = object.metadata.annotations;
  if (there === undefined && value === undefined) return;
  const { [key]: _old, ...rest } = object.metadata.annotations ?? {};
  const next = value === undefined ? rest : { ...rest, [key]: value };
  if (Object.keys(next).length > 0) object.metadata.annotations = next;
  else delete object.metadata.annotations;
}
