import {
  clustersAnnotation,
  group,
  isSystemNamespace,
  physicalClusters,
  rootCluster,
} from '../../cluster/names.ts';
import { formatClusters, parseWord } from '../../cluster/placement.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { at, textAt } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

const mixed = 'it names clusters and excludes others with "!": leave out those that are not wanted';

/** Fails where nothing is ever placed, and for names of clusters that do not exist. */
export async function refusePlacement(
  request: AdmissionRequest,
  object: KubeObject,
  value: string,
): Promise<void> {
  const { names, exclude } = parseWord(value);
  const wanted = [...names, ...exclude];
  if (wanted.length === 0) return;
  if (exclude.length > 0 && (names.length > 0 || exclude.includes(''))) {
    const why = names.length > 0 ? mixed : `"!" is followed by the name of a physical cluster`;
    const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
    throw refusal(request, object, { reason: 'FieldValueInvalid', message });
  }
  const namespace = namespaceOf(request);
  if (isSystemNamespace(namespace)) {
    throw refusal(request, object, {
      reason: 'FieldValueForbidden',
      message: `Forbidden: namespace ${namespace} belongs to the system: nothing in it runs on physical clusters`,
    });
  }
  const scope = { cluster: rootCluster, group, resource: physicalClusters.resource };
  const { items } = await request.registry.list(scope);
  const user = items.find((cluster) => isCredentialOf(request, cluster));
  if (user) {
    throw refusal(request, object, {
      reason: 'FieldValueForbidden',
      message: `Forbidden: it holds the credentials of PhysicalCluster ${user.metadata.name}, which are never placed`,
    });
  }
  const known = items.map((cluster) => cluster.metadata.name ?? '');
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const choice = known.length > 0 ? `known: ${formatClusters(known)}` : 'none is registered yet';
  throw refusal(request, object, {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: no physical cluster is named ${unknown.join(', ')}; ${choice}`,
  });
}

/** The Namespace itself, or the one that the object is in; empty for what is in none. */
export function namespaceOf({ stored: { info }, name, namespace }: AdmissionRequest): string {
  if (info.namespaced) return namespace;
  return info.group === '' && info.resource === 'namespaces' ? name : '';
}

function isCredentialOf(request: AdmissionRequest, cluster: KubeObject): boolean {
  const { info } = request.stored;
  if (request.cluster !== rootCluster || info.group !== '' || info.resource !== 'secrets') return false;
  const ref = at(cluster, 'spec', 'kubeconfigSecretRef');
  return textAt(ref, 'namespace') === request.namespace && textAt(ref, 'name') === request.name;
}

function refusal(
  { stored: { info } }: AdmissionRequest,
  object: KubeObject,
  cause: { reason: string; message: string },
): Error {
  const field = `metadata.annotations[${clustersAnnotation}]`;
  return invalid(info.group, info.kind, object.metadata.name ?? '', [{ ...cause, field }]);
}
