import type { ApiServer } from '../apiserver/options.ts';
import { rootCluster, syncerManagerUser } from '../cluster/names.ts';
import { type Members, startMembers } from '../controller/members.ts';
import type { Logger } from '../kube/log.ts';
import { systemClient } from './client.ts';
import type { Settings } from './settings.ts';

/** Where a store may have several servers: by which each knows the others, and who of them does what. */
export function joinServers(parts: {
  server: ApiServer;
  settings: Settings;
  signal: AbortSignal;
  logger: Logger;
}): Members | undefined {
  const { server, settings, signal, logger } = parts;
  if (!settings.storage.startsWith('etcd:')) return undefined;
  return startMembers({ client: systemClient(server, syncerManagerUser, rootCluster), signal, logger });
}
