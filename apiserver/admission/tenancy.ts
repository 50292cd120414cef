import { childPath, pathAnnotation, pathOfLogicalCluster } from '../../cluster/logical.ts';
import {
  controllersUser,
  logicalClusters,
  longestPath,
  rootCluster,
  splitterUser,
} from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { forbidden, invalid } from '../../kube/status.ts';
import { isOwn } from '../authn/controllers.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isFoundation } from '../registry/logical-clusters.ts';

/**
 * What says which logical cluster is whose is the system's to write:
 * - a Workspace's spec.cluster and spec.URL: who could write them would lead a path to, and delete, another's;
 * - a LogicalCluster's path, owners and finalizers: an owner that is not there has it collected; it goes with its
 *   Workspace, neither before it nor when its users please, and there is no other in its logical cluster.
 * PhysicalClusters are in root only.
 * VolumeCopies are made by the splitter alone: a copier that reaches all physical clusters does what they say.
 * Groups of atoll.dev and kcp.io and below are the server's own: nobody defines kinds in them.
 */
export const tenancyAdmission: AdmissionPlugin = {
  name: 'Tenancy',
  mutate(request) {
    const { object, old, user } = request;
    if (isOwn(user, controllersUser) || object === undefined || old === undefined) return;
    if (isAbout(request, 'tenancy.kcp.io/workspaces')) keepPlace(object, old);
    if (isAbout(request, 'core.kcp.io/logicalclusters')) keepOrigin(object, old);
  },
  validate(request) {
    if (isAbout(request, 'apiextensions.k8s.io/customresourcedefinitions')) refuseOwnGroups(request);
    if (isAbout(request, 'core.kcp.io/logicalclusters')) refuseOther(request);
    if (isAbout(request, 'atoll.dev/physicalclusters')) refuseElsewhere(request);
    if (isAbout(request, 'atoll.dev/volumecopies')) refuseForgery(request);
    if (isOwn(request.user, controllersUser)) return undefined;
    if (isAbout(request, 'core.kcp.io/logicalclusters')) refuseEnd(request);
    if (!isAbout(request, 'tenancy.kcp.io/workspaces')) return undefined;
    refusePlace(request);
    return request.old === undefined && request.object ? refuseLength(request, request.object) : undefined;
  },
};

function isAbout({ stored: { info } }: AdmissionRequest, resource: string): boolean {
  return `${info.group}/${info.resource}` === resource;
}

function refuseForgery({ old, object, stored, name, user }: AdmissionRequest): void {
  if (object !== undefined && old === undefined && !isOwn(user, splitterUser))
    throw forbidden(stored.info, name, 'they are made by the system');
}

const placeFields = ['cluster', 'URL'] as const;

/** A replace that does not mention them leaves them. */
function keepPlace(object: KubeObject, old: KubeObject): void {
  const before = specOf(old);
  for (const field of placeFields) {
    if (before[field] === undefined || specOf(object)[field] !== undefined) continue;
    object.spec = { ...specOf(object), [field]: before[field] };
  }
}

function refusePlace(request: AdmissionRequest): void {
  const { object, old, stored, name } = request;
  if (object === undefined) return;
  for (const field of placeFields) {
    if (specOf(object)[field] === (old && specOf(old)[field])) continue;
    const why = old ? 'is immutable' : 'can only be set by system privileged users';
    throw forbidden(stored.info, name, `spec.${field} ${why}`);
  }
}

/** A path that is longer leads nowhere. */
async function refuseLength({ cluster, registry, stored }: AdmissionRequest, { metadata }: KubeObject) {
  const { group, resource } = logicalClusters;
  const [inside] = (await registry.list({ cluster, group, resource })).items;
  const { name = '' } = metadata;
  const path = childPath(pathOfLogicalCluster(cluster, inside?.metadata.annotations), name);
  if (path.length <= longestPath) return;
  const why = `its path would have ${path.length} characters, of which ${longestPath} may be`;
  const message = `Invalid value: ${JSON.stringify(name)}: ${why}`;
  throw invalid(stored.info.group, stored.info.kind, name, [
    { reason: 'FieldValueInvalid', message, field: 'metadata.name' },
  ]);
}

function keepOrigin(object: KubeObject, old: KubeObject): void {
  const { [pathAnnotation]: _, ...others } = object.metadata.annotations ?? {};
  const path = old.metadata.annotations?.[pathAnnotation];
  object.metadata.annotations = { ...others, ...(path !== undefined && { [pathAnnotation]: path }) };
  const { finalizers: _finalizers, ownerReferences: _owners, ...metadata } = object.metadata;
  const { finalizers, ownerReferences } = old.metadata;
  object.metadata = {
    ...metadata,
    ...(finalizers && { finalizers }),
    ...(ownerReferences && { ownerReferences }),
  };
  const { owner: _owner, ...spec } = specOf(object);
  const { owner } = specOf(old);
  object.spec = { ...spec, ...(owner !== undefined && { owner }) };
}

/** What goes when it is deleted is the logical cluster that it is in. */
function refuseOther({ operation, object, stored: { info }, cluster }: AdmissionRequest): void {
  const { name = '' } = object?.metadata ?? {};
  if (operation !== 'CREATE' || isFoundation(cluster, name)) return;
  const message =
    cluster === rootCluster
      ? `Forbidden: the logical cluster ${rootCluster} has none`
      : `Invalid value: ${JSON.stringify(name)}: a logical cluster has one, named cluster`;
  const reason = cluster === rootCluster ? 'FieldValueForbidden' : 'FieldValueInvalid';
  throw invalid(info.group, info.kind, name, [{ reason, message, field: 'metadata.name' }]);
}

/** All logical clusters share them: in any other they would be a tenant's word on where others' workloads run. */
function refuseElsewhere({ operation, stored: { info }, cluster, name }: AdmissionRequest): void {
  if (operation !== 'CREATE' || cluster === rootCluster) return;
  throw forbidden(info, name, `physical clusters are registered in the logical cluster ${rootCluster} only`);
}

/** One that has no Workspace is its maker's to delete. */
function refuseEnd({ operation, old, stored, name }: AdmissionRequest): void {
  if (operation !== 'DELETE' || old === undefined || specOf(old)['owner'] === undefined) return;
  throw forbidden(stored.info, name, 'it is deleted with its Workspace');
}

const ownGroups = /(^|\.)(atoll\.dev|kcp\.io)$/;

function refuseOwnGroups({ operation, object, stored, name }: AdmissionRequest): void {
  const group = object && specOf(object)['group'];
  if (operation !== 'CREATE' || typeof group !== 'string' || !ownGroups.test(group)) return;
  const { info } = stored;
  throw invalid(info.group, info.kind, name, [
    {
      reason: 'FieldValueForbidden',
      message: 'Forbidden: atoll.dev, kcp.io and the groups below them are protected groups',
      field: 'spec.group',
    },
  ]);
}

function specOf(object: KubeObject): Record<string, unknown> {
  return (object.spec ?? {}) as Record<string, unknown>;
}
