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
  write: KindWrite,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<StatusCause[]> {
  // What was asked for stays.
  if (old !== undefined) return [];
  const { kind, spec } = object;
  const claim = kind === 'ResourceClaim' ? spec : at(spec, 'spec');
  const requests = records(at(claim, 'devices', 'requests'));
  const index = requests.findIndex((request) => at(request, 'exactly', 'adminAccess') === true);
  if (index < 0) return [];
  const rule = await adminAccessProblem(write, object);
  if (rule === undefined) return [];
  return [
    {
      reason: 'FieldValueForbidden',
      message: `Forbidden: ${rule}`,
      field: `spec.devices.requests[${index}].adminAccess`,
    },
  ];
}

/** Why nothing in the namespace of an object has access to devices that others use. */
export async function adminAccessProblem(
  { registry, cluster }: KindWrite,
  { metadata: { namespace = '' } }: KubeObject,
): Promise<string | undefined> {
  const entry = await registry.store.get(objectKey(namespaces, cluster, '', namespace));
  if (entry && decodeStored(entry).metadata.labels?.[label] === 'true') return undefined;
  return `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
}
