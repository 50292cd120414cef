import type { Authority } from '../../apiserver/tls/ca.ts';
import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { listAt, record } from '../../kube/untyped.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { decideRequest } from './decide.ts';
import { endOf } from './end.ts';

export type SignClient = Authority['signClient'];

export interface SigningControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  sign: SignClient;
}

const requests = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };
const workers = 2;
/** Timers know no later time; what is due later is looked at again. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * Woken by CertificateSigningRequests. Writes the certificate of those that were approved, of somebody in that logical cluster
 * alone, or why there is none, and takes away what was answered, or was not, long ago. Resolves when stopped.
 */
export async function runSigningController(options: SigningControllerOptions): Promise<void> {
  const { client, informers, signal, logger, sign } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for(requests);
  const wake = (_request: KubeObject, key: string) => queue.add(key);
  all.on({ add: wake, update: (request, _old, key) => wake(request, key) });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const { name, cluster: id } = parseKey(key);
    const cluster = clusterToWrite(informers, key);
    try {
      const live = await client.get(requests, { cluster, name }, signal);
      const left = endOf(live) - Date.now();
      if (left <= 0) {
        const { uid = '', resourceVersion = '' } = live.metadata;
        await client.delete(requests, { cluster, name }, { preconditions: { uid, resourceVersion } }, signal);
        return undefined;
      }
      const verdict = decideRequest(live);
      // Its answer wakes this again.
      if (verdict === undefined) return { after: Math.min(left, longestMs) };
      const more =
        'failed' in verdict
          ? { conditions: [...listAt(live, 'status', 'conditions'), failure(verdict.failed)] }
          : { certificate: Buffer.from(await signed(verdict, id, sign)).toString('base64') };
      const wanted = { ...live, status: { ...record(live.status), ...more } };
      await client.update(requests, wanted, { cluster, subresource: 'status', signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    return undefined;
  };
  const ready = [all.synced];
  await runController({ name: 'signing', queue, workers, reconcile, signal, logger, ready });
}

type Asked = Parameters<SignClient>[2] & { user: string; groups: string[] };

function signed({ user, groups, ...how }: Omit<Asked, 'cluster'>, cluster: string, sign: SignClient) {
  return sign(user, groups, { ...how, cluster });
}

function failure(message: string) {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  return {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
}
