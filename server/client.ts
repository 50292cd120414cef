import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { Client } from '../client/client.ts';
import type { Fence } from '../storage/store.ts';

/** A client of the API without a socket, as one of our own controllers, of all logical clusters. */
export function systemClient(server: ApiServer, name: string, cluster = '*', holding?: Fence): Client {
  const user = { name, groups: [mastersGroup, 'system:authenticated'] };
  return new Client(server.transport(user, holding), { cluster, userAgent: name });
}
