import type { KubeObject } from '../../../kube/object.ts';
import type { StatusCause } from '../../../kube/status.ts';
import { at, records } from '../../../kube/untyped.ts';
import { decodeStored } from '../codec.ts';
import { objectKey } from '../keys.ts';
import type { KindWrite } from './hooks.ts';

const label = 'resource.kubernetes.io/admin-access';
const namespaces = { group: '', resource: 'namespaces', namespaced: false };

/**
 * Devices that others use are asked for in the namespaces that are labelled for it, and nowhere else.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access
 */
export async function adminAccess(
  { registry, cluster }: KindWrite,
  { kind, spec, metadata }: KubeObject,
  old: KubeObject | undefined,
): Promise<StatusCause[]> {
  // What was asked for stays.
  if (old !== undefined) return [];
  const claim = kind === 'ResourceClaim' ? spec : at(spec, 'spec');
  const requests = records(at(claim, 'devices', 'requests'));
  const index = requests.findIndex((request) => at(request, 'exactly', 'adminAccess') === true);
  if (index < 0) return [];
  const entry = await registry.store.get(objectKey(namespaces, cluster, '', metadata.namespace ?? ''));
  if (entry && decodeStored(entry).metadata.labels?.[label] === 'true') return [];
  const rule = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
  return [
    {
      reason: 'FieldValueForbidden',
      message: `Forbidden: ${rule}`,
      field: `spec.devices.requests[${index}].adminAccess`,
    },
  ];
}
