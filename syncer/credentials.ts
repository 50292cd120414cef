import { createHash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { isTransportError } from '../client/errors.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { Transport } from '../kube/http.ts';
import { isStatusError } from '../kube/status.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };

/** A cluster that is away is not the reason to read its kubeconfig anew at each request that it does not answer. */
const suspectMs = 10_000;

/**
 * The same way, which says by `suspect` that a kubeconfig may have been replaced: who uses it is not known there (401), or nobody is
 * where it leads. The watch of its Secret tells so as well, and may be late, or lost.
 */
export function noticing(transport: Transport, suspect: () => void): Transport {
  let notBefore = Number.NEGATIVE_INFINITY;
  const notice = () => {
    if (performance.now() < notBefore) return;
    notBefore = performance.now() + suspectMs;
    suspect();
  };
  return async (request) => {
    try {
      const response = await transport(request);
      if (response.status === 401) notice();
      return response;
    } catch (error) {
      if (isTransportError(error)) notice();
      throw error;
    }
  };
}

/** Of what its syncer goes by, and its credentials: a digest. Another one means another lifetime. */
export async function identityOf(
  client: Client,
  cluster: PhysicalCluster,
  signal: AbortSignal,
): Promise<string> {
  const ref = cluster.spec?.kubeconfigSecretRef;
  let data: unknown;
  try {
    if (ref) data = (await client.get(secrets, { namespace: ref.namespace, name: ref.name }, signal))['data'];
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  const { adopt = [], namespaceLabels = [] } = cluster.spec ?? {};
  const all = JSON.stringify([cluster.metadata.uid, ref, data, adopt, namespaceLabels]);
  return createHash('sha256').update(all).digest('base64');
}
