import { sameJson } from '../../../kube/deep.ts';
import { parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { invalid, isStatusError } from '../../../kube/status.ts';
import { at, text, textAt } from '../../../kube/untyped.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';

/**
 * A policy reads its parameters for everybody and its messages tell of them, so who writes it must be allowed to read
 * them: any object of its paramKind, or, who binds it, those that the binding names. Throws a StatusError.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
 */
export async function authorizeParams(request: AdmissionRequest, catalog: Catalog): Promise<void> {
  const { object, old, subresource } = request;
  if (!object || subresource !== '') return;
  const { resource } = request.stored.info;
  if (resource.endsWith('admissionpolicies')) {
    const kind = at(object, 'spec', 'paramKind');
    if (!kind || sameJson(kind, at(old, 'spec', 'paramKind'))) return;
    await requirePolicy(request, catalog, kind);
  } else if (resource.endsWith('admissionpolicybindings')) {
    const ref = at(object, 'spec', 'paramRef');
    const same =
      sameJson(ref, at(old, 'spec', 'paramRef')) &&
      textAt(object, 'spec', 'policyName') === textAt(old, 'spec', 'policyName');
    if (ref && !same) await requireBinding(request, catalog, ref);
  }
}

async function requirePolicy(request: AdmissionRequest, catalog: Catalog, kind: unknown): Promise<void> {
  if (await may(request, resourceOf(kind, request, catalog), { verb: 'get', name: '*', namespace: '*' }))
    return;
  const named = `kind=${text(at(kind, 'kind'))}, apiVersion=${text(at(kind, 'apiVersion'))}`;
  const why = `user ${request.user.name} must have "get" permission on all objects of the referenced paramKind (${named})`;
  throw refused(request, 'spec.paramKind', why);
}

async function requireBinding(request: AdmissionRequest, catalog: Catalog, ref: unknown): Promise<void> {
  const policy = await policyOf(request);
  const kind = at(policy, 'spec', 'paramKind');
  const [name, namespace] = [text(at(ref, 'name')), text(at(ref, 'namespace'))];
  const verb = name === '' ? 'list' : 'get';
  if (await may(request, resourceOf(kind, request, catalog), { verb, name, namespace })) return;
  const user = request.user.name;
  const missing = `unable to get policy ${textAt(request.object, 'spec', 'policyName')} to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`;
  const why = `user ${user} does not have "${verb}" permission on the object referenced by paramRef`;
  throw refused(request, 'spec.paramRef', policy ? why : missing);
}

async function policyOf({
  registry,
  cluster,
  stored,
  object,
}: AdmissionRequest): Promise<KubeObject | undefined> {
  const name = textAt(object, 'spec', 'policyName') ?? '';
  const { group } = stored.info;
  const resource = stored.info.resource.replace(/bindings$/, '').replace(/policy$/, 'policies');
  const of = { cluster, group, resource, name };
  try {
    return await registry.get(of);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

interface Readable {
  group: string;
  version: string;
  resource: string;
}

/** Of a kind that nobody serves yet: all. */
function resourceOf(kind: unknown, { cluster }: AdmissionRequest, catalog: Catalog): Readable {
  if (!kind) return { group: '*', version: '*', resource: '*' };
  const { group, version } = parseApiVersion(text(at(kind, 'apiVersion')));
  const served = catalog
    .resources(cluster)
    .find(({ info }) => info.group === group && info.version === version && info.kind === at(kind, 'kind'));
  return { group, version, resource: served?.info.resource ?? '*' };
}

async function may(
  { user, cluster, authorize }: AdmissionRequest,
  of: Readable,
  what: { verb: string; name: string; namespace: string },
): Promise<boolean> {
  return (await authorize({ user, cluster, subresource: '', ...of, ...what })).allowed;
}

function refused({ stored: { info }, name }: AdmissionRequest, field: string, why: string): Error {
  return invalid(info.group, info.kind, name, [
    { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field },
  ]);
}
