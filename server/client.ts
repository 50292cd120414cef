import { ownUser } from '../apiserver/authn/controllers.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { Client } from '../client/client.ts';
import type { Fence } from '../storage/store.ts';

/** A client of the API without a socket, as one of our own controllers, of all logical clusters. */
export function systemClient(server: ApiServer, name: string, cluster = '*', holding?: Fence): Client {
  return new Client(server.transport(ownUser(name), holding), { cluster, userAgent: name });
}
