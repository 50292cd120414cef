import { ownUser } from '../apiserver/authn/controllers.ts';
import { clusterNameExtra } from '../apiserver/authn/service-account.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { Client } from '../client/client.ts';
import type { UserInfo } from '../kube/http.ts';
import type { Fence } from '../storage/store.ts';

/** kube-controller-manager's autoscaler, of this logical cluster, whose roles and webhooks say what it may. */
export function autoscalerUser(cluster: string): UserInfo {
  const accounts = 'system:serviceaccounts';
  return {
    name: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
    groups: [accounts, `${accounts}:kube-system`, 'system:authenticated'],
    extra: { [clusterNameExtra]: [cluster] },
  };
}

/** A client of the API without a socket, as one of our own controllers, of all logical clusters. */
export function systemClient(server: ApiServer, name: string, cluster = '*', holding?: Fence): Client {
  return new Client(server.transport(ownUser(name), holding), { cluster, userAgent: name });
}
