import { problemOf } from '../../apiserver/tls/subject.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt, strings, textAt } from '../../kube/untyped.ts';
import { askedIn } from '../../kube/validation/pem.ts';

/** The one signer of Kubernetes whose certificates count here: for clients of the API. */
export const clientSigner = 'kubernetes.io/kube-apiserver-client';

const [shortest, longest] = [600, 365 * 86_400];
const allowed = ['digital signature', 'key encipherment', 'client auth'];

export type Verdict =
  | { failed: string }
  | { user: string; groups: string[]; publicKey: string; seconds: number };

/**
 * What becomes of a CertificateSigningRequest; undefined: nothing, or nothing yet. Names of the system are nobody's who asks.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
export function decideRequest(request: KubeObject): Verdict | undefined {
  if (!isDue(request)) return undefined;
  const usages = strings(at(request, 'spec', 'usages'));
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return { failed: `invalid usage for client certificate: ${other}` };
  if (!usages.includes('client auth'))
    return { failed: 'missing required usage for client certificate: client auth' };
  try {
    const asked = askedIn(Buffer.from(textAt(request, 'spec', 'request') ?? '', 'base64').toString('latin1'));
    const seconds = numberAt(request, 'spec', 'expirationSeconds') ?? longest;
    const failed = problemOf(asked);
    return failed === undefined
      ? { ...asked, seconds: Math.min(longest, Math.max(shortest, seconds)) }
      : { failed };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : 'it cannot be read' };
  }
}

/** Approved, and neither answered nor given up. */
function isDue(request: KubeObject): boolean {
  if (textAt(request, 'spec', 'signerName') !== clientSigner) return false;
  if (textAt(request, 'status', 'certificate')) return false;
  const conditions = listAt(request, 'status', 'conditions');
  const has = (type: string) =>
    conditions.some((one) => at(one, 'type') === type && at(one, 'status') === 'True');
  return has('Approved') && !has('Denied') && !has('Failed');
}
