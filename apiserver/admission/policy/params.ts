import { formatApiVersion, parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { labelSelectorFromObject } from '../../../kube/selector.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import type { ServedResource } from '../../served.ts';
import type { Binding, Policy } from './policy.ts';

/** A policy, or its binding, cannot be asked as it is: what failurePolicy is for. */
export class ConfigurationError extends Error {}

/**
 * What a binding gives its policy to compare with; undefined stands for nothing, once. Empty: there is none, and the
 * binding lets that pass. Throws a ConfigurationError.
 */
export async function paramsOf(
  { paramKind }: Policy,
  { paramRef }: Binding,
  request: AdmissionRequest,
  catalog: Catalog,
): Promise<(KubeObject | undefined)[]> {
  if (paramKind === undefined || paramRef === undefined) return [undefined];
  const served = servedAs(paramKind, request.cluster, catalog);
  if (served === undefined) throw new ConfigurationError(unknownKind(paramKind));
  const namespace = namespaceFor(served, paramRef.namespace, request);
  const found = await foundIn(served, { cluster: request.cluster, namespace }, request, paramRef);
  if (found.length > 0 || paramRef.allowsMissing) return found;
  throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
}

/** Why a policy cannot be asked, whatever its bindings say; undefined: it can. */
export function paramKindProblem(
  { paramKind }: Policy,
  { cluster }: AdmissionRequest,
  catalog: Catalog,
): string | undefined {
  if (paramKind === undefined || servedAs(paramKind, cluster, catalog) !== undefined) return undefined;
  return `failed to configure policy: ${unknownKind(paramKind)}`;
}

type ParamKind = NonNullable<Policy['paramKind']>;

function servedAs({ apiVersion, kind }: ParamKind, cluster: string, catalog: Catalog) {
  return catalog
    .resources(cluster)
    .find(({ info }) => info.kind === kind && formatApiVersion(info) === apiVersion);
}

/** In the words of Go's GroupVersionKind, whose group may be empty. */
function unknownKind({ apiVersion, kind }: ParamKind): string {
  const { group, version } = parseApiVersion(apiVersion);
  return `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`;
}

function namespaceFor(
  { info }: ServedResource,
  asked: string,
  { namespace }: AdmissionRequest,
): string | undefined {
  if (!info.namespaced) {
    if (asked === '') return undefined;
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  if (asked || namespace) return asked || namespace;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

async function foundIn(
  served: ServedResource,
  place: { cluster: string; namespace: string | undefined },
  request: AdmissionRequest,
  { name, selector }: NonNullable<Binding['paramRef']>,
): Promise<KubeObject[]> {
  const { group, resource } = served.info;
  const { cluster, namespace } = place;
  const where = { cluster, group, resource, ...(namespace !== undefined && { namespace }) };
  const { registry } = request;
  const shown = (object: KubeObject) => request.inVersion(object, served);
  if (name === '') {
    const { matches } = labelSelectorFromObject(selector ?? {});
    const items = await registry.recent(where);
    return Promise.all(items.filter(({ metadata }) => matches(metadata.labels ?? {})).map(shown));
  }
  try {
    return [await shown(await registry.get({ ...where, name }))];
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return [];
    throw error;
  }
}
