import { setMaxListeners } from 'node:events';
import { expect } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { Client } from '../../../../client/client.ts';
import { InformerSet } from '../../../../client/informers.ts';
import { controllersUser } from '../../../../cluster/names.ts';
import type { Logger } from '../../../../kube/log.ts';
import { silentLogger } from '../../../../kube/log.ts';
import { type Extension, group, version } from '../../../aggregation/extension.ts';
import type { Api } from '../api.ts';

export const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
export const authentication = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

interface Controlled {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

/** A controller of all logical clusters of an API, until it is stopped. */
export function control(
  api: Api,
  run: (options: Controlled) => Promise<unknown>,
): { client: Client; signal: AbortSignal; stop(): Promise<unknown> } {
  const ended = new AbortController();
  const { signal } = ended;
  setMaxListeners(0, signal);
  const client = new Client(api.server.transport(ownUser(controllersUser)), { cluster: '*' });
  const informers = new InformerSet(client, { cluster: '*', signal });
  const done = run({ client, informers, signal, logger: silentLogger });
  const stop = () => {
    ended.abort();
    return done;
  };
  return { client, signal, stop };
}

/** A Service at this machine: what a name leads to is for the policy of egress. */
export function externalService(externalName = 'localhost'): object {
  const metadata = { name: 'wardle', namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'ExternalName', externalName } };
}

export function apiService(
  { port, caBundle }: Pick<Extension, 'port' | 'caBundle'>,
  spec: object = {},
): object {
  const whole = {
    group,
    version,
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    service: { namespace: 'default', name: 'wardle', port },
    caBundle,
    ...spec,
  };
  const name = `${whole.version}.${whole.group}`;
  return { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name }, spec: whole };
}

/** Has the extension serve its group in a logical cluster, as its ConfigMap says, and says that it is available. */
export async function register(
  api: Api,
  extension: Extension,
  prefix = '',
  spec: object = {},
): Promise<void> {
  const { status, body } = await api.call('GET', prefix + authentication);
  expect([status, body.message]).toEqual([200, undefined]);
  extension.trust(body.data['requestheader-client-ca-file']);
  await api.call('POST', `${prefix}/api/v1/namespaces/default/services`, externalService());
  const made = apiService(extension, spec) as { metadata: { name: string } };
  const created = await api.call('POST', prefix + apiServices, made);
  expect([created.status, created.body.message]).toEqual([201, undefined]);
  await makeAvailable(api, made.metadata.name, prefix);
}

export async function makeAvailable(api: Api, name: string, prefix = '', status = 'True'): Promise<void> {
  const conditions = [{ type: 'Available', status, reason: 'Passed', message: 'all checks passed' }];
  const written = await api.call('PATCH', `${prefix}${apiServices}/${name}/status`, {
    status: { conditions },
  });
  expect([written.status, written.body.message]).toEqual([200, undefined]);
}
