import { TransportError } from '../client/errors.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { Term } from '../controller/leader.ts';
import type { Transport } from '../kube/http.ts';
import type { Logger } from '../kube/log.ts';

export interface WayOptions {
  /** Fails where its kubeconfig cannot be used. */
  transportFor(cluster: PhysicalCluster): Promise<Transport>;
  logger: Logger;
}

/** Why its kubeconfig does not work. */
export interface Broken {
  error: unknown;
}

export function whyBroken({ error }: Broken): string {
  return error instanceof Error ? error.message : String(error);
}

/** By a kubeconfig that does not work there is a way as well, to nobody: whoever goes it says why it leads nowhere. */
export async function wayTo(
  cluster: PhysicalCluster,
  { transportFor, logger }: WayOptions,
): Promise<{ given: Transport; broken?: Broken }> {
  try {
    return { given: await transportFor(cluster) };
  } catch (err) {
    const physicalCluster = cluster.metadata.name;
    logger.warn(
      { physicalCluster, err },
      'a physical cluster cannot be reached: its kubeconfig does not work',
    );
    const broken: Broken = { error: err };
    const given: Transport = async () => {
      throw new TransportError(
        'ERR_KUBECONFIG',
        `its kubeconfig does not work: ${whyBroken(broken)}`,
        broken.error,
      );
    };
    return { given, broken };
  }
}

/**
 * A physical cluster knows nothing of our leases: who was paused must not write to it what it had decided before.
 * Asked right before each request is sent, of the clock, which runs on while a process is stopped.
 */
export function whileHeld(transport: Transport, term: Term): Transport {
  return async (request) => {
    if (request.method !== 'GET' && !term.held()) throw new Error('another syncer may have taken over');
    return transport(request);
  };
}
