import { ownUser } from '../apiserver/authn/controllers.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { Client } from '../client/client.ts';
import type { Fence } from '../storage/store.ts';

/** As kube-controller-manager's autoscaler is known in each logical cluster, whose roles and webhooks say what it may. */
export function autoscalerClient(server: ApiServer, holding: Fence): Client {
  const account = 'system:serviceaccounts';
  const name = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler';
  const groups = [account, `${account}:kube-system`, 'system:authenticated'];
  return new Client(server.transport({ name, groups }, holding), { cluster: '*' });
}

/** A client of the API without a socket, as one of our own controllers, of all logical clusters. */
export function systemClient(server: ApiServer, name: string, cluster = '*', holding?: Fence): Client {
  return new Client(server.transport(ownUser(name), holding), { cluster, userAgent: name });
}
