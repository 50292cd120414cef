import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { must, mustJson, until } from '../atoll/kubectl.ts';

/** Of an operator: the address of the tenant's kubeconfig, its account's token, and nothing else. Written to `dir`. */
export async function accountKubeconfig(
  tenant: string,
  namespace: string,
  name: string,
  dir: string,
): Promise<string> {
  const config = new KubeConfig();
  config.loadFromFile(tenant);
  const token = await must(tenant, 'create', 'token', name, '-n', namespace);
  config.loadFromClusterAndUser(config.getCurrentCluster() as never, { name, token: token.trim() });
  const path = join(dir, `${name}.kubeconfig`);
  await writeFile(path, config.exportConfig(), { mode: 0o600 });
  return path;
}

export interface Pod {
  metadata: { namespace: string };
  spec: {
    containers: { env?: { name: string; value?: string }[] }[];
    volumes?: { projected?: { sources?: { secret?: { name: string } }[] } }[];
  };
}

/**
 * Of an operator that a physical cluster runs as a pod: what in-cluster configuration reads there, the address of the variables and
 * the token and certificate of the Secret, and nothing else. Pods of simulated clusters run no program: it runs here.
 */
export async function podKubeconfig(admin: string, selector: string, dir: string): Promise<string> {
  const physical = join(dir, 'physical.kubeconfig');
  const pod = await until(`a pod of ${selector} runs`, 60, async () => {
    for (const name of ['east', 'west']) {
      const secret = ['get', 'secret', `physicalcluster-${name}`, '-n', 'atoll-system'];
      const data = await must(admin, ...secret, '-o', 'jsonpath={.data.kubeconfig}');
      await writeFile(physical, Buffer.from(data, 'base64'), { mode: 0o600 });
      const { items } = await mustJson<{ items: Pod[] }>(physical, 'get', 'pods', '-A', '-l', selector);
      if (items[0]) return items[0];
    }
    return undefined;
  });
  const path = join(dir, 'pod.kubeconfig');
  await writeInCluster(physical, pod, path);
  return path;
}

/** What in-cluster configuration reads in a pod of a physical cluster, as a kubeconfig at `path`. */
export async function writeInCluster(physical: string, pod: Pod, path: string): Promise<void> {
  const env = new Map(pod.spec.containers[0]?.env?.map(({ name, value }) => [name, value]));
  const sources = pod.spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
  const name = sources.find(({ secret }) => secret?.name.startsWith('atoll-token-'))?.secret?.name ?? '';
  const at = ['get', 'secret', name, '-n', pod.metadata.namespace];
  const { data } = await mustJson<{ data: Record<string, string> }>(physical, ...at);
  const config = new KubeConfig();
  const server = `https://${env.get('KUBERNETES_SERVICE_HOST')}:${env.get('KUBERNETES_SERVICE_PORT')}`;
  const token = Buffer.from(data['token'] ?? '', 'base64').toString();
  config.loadFromClusterAndUser(
    { name: 'in-cluster', server, caData: data['ca.crt'] ?? '', skipTLSVerify: false },
    { name, token },
  );
  await writeFile(path, config.exportConfig(), { mode: 0o600 });
}
