import type { ApiServer, PodConnector, ServiceConnector } from '../../apiserver/options.ts';
import { syncerUser } from '../../apiserver/view/view.ts';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { rootCluster } from '../../cluster/names.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import { runLeader, type Term } from '../../controller/leader.ts';
import type { Transport } from '../../kube/http.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import { type SyncersOptions, startSyncers } from '../../syncer/manager.ts';
import { secrets } from '../resources.ts';
import { systemClient } from './controllers.ts';

export interface SyncerManager {
  connectPod: PodConnector;
  connectService: ServiceConnector;
  stopped: Promise<void>;
}

/**
 * One syncer for each PhysicalCluster (push mode), each with its own narrow identity, in the process of the server
 * that is elected for it.
 */
export function startSyncerManager(of: {
  server: ApiServer;
  store: Store;
  signal: AbortSignal;
  logger: Logger;
}): SyncerManager {
  const { server, store, signal, logger } = of;
  const client = systemClient(server, 'system:atoll:syncer-manager', rootCluster);
  const upstreamFor = (name: string, { fence }: Term) => {
    const user = syncerUser(name);
    return new Client(server.transport(user, fence), {
      prefix: `/syncers/${name}`,
      userAgent: 'atoll-syncer',
    });
  };
  const transportFor = async (cluster: PhysicalCluster): Promise<Transport> => {
    const { namespace, name } = cluster.spec?.kubeconfigSecretRef ?? { namespace: '', name: '' };
    const secret = await client.get<KubeObject & { data?: Record<string, string> }>(secrets, {
      namespace,
      name,
    });
    return transportFromKubeconfig(Buffer.from(secret.data?.['kubeconfig'] ?? '', 'base64').toString('utf8'));
  };
  const elect: SyncersOptions['elect'] = (name, lead, ending) =>
    runLeader({ store, name: `syncers/${name}`, lead, signal: ending, logger });
  const syncers = startSyncers({ client, transportFor, upstreamFor, elect, signal, logger });
  return {
    stopped: syncers.stopped,
    connectPod: (logicalCluster, pod) => syncers.connectPod(logicalCluster, pod),
    connectService: (logicalCluster, service) => syncers.connectService(logicalCluster, service),
  };
}
