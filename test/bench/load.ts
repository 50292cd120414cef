import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';

export { type Figures, measure, percentile } from './measure.ts';

export const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
export const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

/** A client over TLS with as many sockets as there are concurrent callers. */
export async function connect(
  kubeconfig: string,
  sockets: number,
): Promise<{ client: Client; close(): void }> {
  const transport = await transportFromKubeconfigFile(kubeconfig, { maxSockets: sockets });
  return { client: new Client(transport), close: () => transport.close() };
}

/** A ConfigMap of about one KiB. */
export function configMap(name: string, namespace = 'default'): KubeObject {
  const data = { payload: 'x'.repeat(800) };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'bench' } },
    data,
  };
}

export async function fill(
  client: Client,
  count: number,
  prefix: string,
  namespace = 'default',
): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let i = next++; i < count; i = next++)
      await client.create(configMaps, configMap(`${prefix}-${i}`, namespace));
  };
  await Promise.all(Array.from({ length: 64 }, caller));
}
