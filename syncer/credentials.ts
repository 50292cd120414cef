import { isTransportError } from '../client/errors.ts';
import type { Transport } from '../kube/http.ts';

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
