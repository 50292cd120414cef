import {
  clustersAnnotation,
  group,
  isSystemNamespace,
  physicalClusters,
  rootCluster,
  schedulerUser,
} from '../../cluster/names.ts';
import { formatClusters, parseWord } from '../../cluster/placement.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { at, textAt } from '../../kube/untyped.ts';
import { isOwn } from '../authn/controllers.ts';
import type { AdmissionRequest } from '../plugins.ts';

const clusters = { cluster: rootCluster, group, resource: physicalClusters.resource };
const isPrintable = /^[!-~]+$/;
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
  const isCredential = mayBeCredential(request);
  if (!isCredential && (await areKnown(request, wanted))) return;
  const { items } = await request.registry.list(clusters);
  const user = isCredential && items.find((cluster) => isCredentialOf(request, cluster));
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

/**
 * As far as this server has seen: whoever is not among those is looked for anew. The scheduler names those that it chose from, for each of
 * thousands of objects up to all there are; one that has gone since is news for it.
 */
async function areKnown({ user, registry }: AdmissionRequest, names: readonly string[]): Promise<boolean> {
  if (isOwn(user, schedulerUser)) return true;
  for (const name of names) {
    const [found] = isPrintable.test(name) ? await registry.recent({ ...clusters, name }) : [];
    if (!found) return false;
  }
  return true;
}

/** The Namespace itself, or the one that the object is in; empty for what is in none. */
export function namespaceOf({ stored: { info }, name, namespace }: AdmissionRequest): string {
  if (info.namespaced) return namespace;
  return info.group === '' && info.resource === 'namespaces' ? name : '';
}

function mayBeCredential({ cluster, stored: { info } }: AdmissionRequest): boolean {
  return cluster === rootCluster && info.group === '' && info.resource === 'secrets';
}

function isCredentialOf(request: AdmissionRequest, cluster: KubeObject): boolean {
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
