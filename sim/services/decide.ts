import type { KubeObject } from '../../kube/object.ts';

/** What a cloud would fill in: an address for a LoadBalancer, a volume for a claim. */
export function loadBalancerStatus(
  service: KubeObject<{ type?: string }>,
  /** Asked only when one is needed. */
  address: () => string,
): Record<string, unknown> | undefined {
  const has = (service.status as { loadBalancer?: { ingress?: unknown[] } } | undefined)?.loadBalancer
    ?.ingress;
  if (service.spec?.type !== 'LoadBalancer' || (has && has.length > 0)) return undefined;
  return { loadBalancer: { ingress: [{ ip: address(), ipMode: 'VIP' }] } };
}

export interface ClaimSpec {
  accessModes?: string[];
  resources?: { requests?: Record<string, string> };
  volumeName?: string;
}

export function boundStatus(
  claim: KubeObject<ClaimSpec, { phase?: string }>,
): Record<string, unknown> | undefined {
  if (claim.status?.phase === 'Bound') return undefined;
  const storage = claim.spec?.resources?.requests?.['storage'] ?? '1Gi';
  return { phase: 'Bound', accessModes: claim.spec?.accessModes ?? [], capacity: { storage } };
}
