import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, textAt } from '../../kube/untyped.ts';

const hourMs = 3_600_000;
const answeredMs = hourMs;
const unansweredMs = 24 * hourMs;

/**
 * When a CertificateSigningRequest, of whatever signer, is taken away, in milliseconds since 1970: an hour after it was
 * answered, or when its certificate expires; a day after it was made, or approved, where nobody has answered it.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#request-signing-process
 */
export function endOf(request: KubeObject): number {
  const conditions = listAt(request, 'status', 'conditions');
  const certificate = textAt(request, 'status', 'certificate');
  const made = timeOf(request.metadata.creationTimestamp);
  const ends = conditions.flatMap((one) => {
    const since = timeOf(at(one, 'lastUpdateTime'));
    const type = at(one, 'type');
    if (type === 'Denied' || type === 'Failed') return [since + answeredMs];
    if (type !== 'Approved') return [];
    return certificate ? [since + answeredMs, expiryOf(certificate)] : [since + unansweredMs];
  });
  return conditions.length === 0 ? made + unansweredMs : Math.min(Number.POSITIVE_INFINITY, ...ends);
}

/** What has no time is not old. */
function timeOf(text: unknown): number {
  return (typeof text === 'string' && Date.parse(text)) || Number.POSITIVE_INFINITY;
}

function expiryOf(certificate: string): number {
  try {
    return timeOf(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
