import type { ApiServer, PodConnector } from '../../apiserver/options.ts';
import { syncerUser } from '../../apiserver/view/view.ts';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { rootCluster } from '../../cluster/names.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import type { Transport } from '../../kube/http.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { startSyncers } from '../../syncer/manager.ts';
import { runSilence } from '../../syncer/silence.ts';
import { secrets } from '../resources.ts';
import { systemClient } from './controllers.ts';

export interface SyncerManager {
  connectPod: PodConnector;
  stopped: Promise<void>;
}

/** One syncer in this process for each PhysicalCluster (push mode), each with its own narrow identity. */
export function startSyncerManager(of: {
  server: ApiServer;
  signal: AbortSignal;
  logger: Logger;
}): SyncerManager {
  const { server, signal, logger } = of;
  const client = systemClient(server, 'system:atoll:syncer-manager', rootCluster);
  const upstreamFor = (name: string) => {
    const user = syncerUser(name);
    return new Client(server.transport(user), { prefix: `/syncers/${name}`, userAgent: 'atoll-syncer' });
  };
  const transportFor = async (cluster: PhysicalCluster): Promise<Transport> => {
    const { namespace, name } = cluster.spec?.kubeconfigSecretRef ?? { namespace: '', name: '' };
    const secret = await client.get<KubeObject & { data?: Record<string, string> }>(secrets, {
      namespace,
      name,
    });
    return transportFromKubeconfig(Buffer.from(secret.data?.['kubeconfig'] ?? '', 'base64').toString('utf8'));
  };
  const syncers = startSyncers({ client, transportFor, upstreamFor, signal, logger });
  const silence = runSilence({ client, signal, logger });
  return {
    stopped: Promise.all([syncers.stopped, silence]).then(() => undefined),
    connectPod: (logicalCluster, pod) => syncers.connectPod(logicalCluster, pod),
  };
}
