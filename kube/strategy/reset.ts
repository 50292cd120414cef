import { rootType } from '../defaults/shape.ts';
import type { KindInfo } from './kind.ts';

type Path = readonly string[];

const spec: Path = ['spec'];
const status: Path = ['status'];
const metadata: Path = ['metadata'];

/** Where a kind departs from the rule, by `<group>/<kind>` with `/<subresource>`. */
const departures: Readonly<Record<string, readonly Path[]>> = {
  'certificates.k8s.io/CertificateSigningRequest': [spec, status],
  'certificates.k8s.io/CertificateSigningRequest/status': [spec, ['status', 'conditions']],
  'certificates.k8s.io/CertificateSigningRequest/approval': [spec, ['status', 'certificate']],
  'apps/Deployment/status': [spec, ['metadata', 'labels']],
  '/Pod/status': [spec, ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy/status': [spec, metadata],
  'apiregistration.k8s.io/APIService/status': [spec, metadata],
  'flowcontrol.apiserver.k8s.io/FlowSchema/status': [spec, metadata],
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration/status': [spec, metadata],
  'networking.k8s.io/ServiceCIDR/status': [spec, metadata],
  'resource.k8s.io/ResourceClaim/status': [spec, metadata],
  'storage.k8s.io/VolumeAttachment/status': [spec, metadata],
};

/**
 * What a write to the main resource or to a subresource cannot change, and so nobody owns for it.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function resetFields(
  { group, version, kind, statusWithRest }: KindInfo,
  subresource: string,
  { hasStatus, fields }: { hasStatus: boolean; fields: readonly string[] },
): readonly Path[] {
  const departure = departures[`${group}/${kind}${subresource === '' ? '' : `/${subresource}`}`];
  if (departure !== undefined) return departure;
  if (subresource !== 'status') return hasStatus && statusWithRest !== true ? [status] : [];
  const others = fields.filter((name) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name));
  const builtin = rootType(group, version, kind) !== undefined;
  return [...others.map((name) => [name]), ...(builtin ? [] : [metadata])];
}
