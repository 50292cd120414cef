import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { must } from '../atoll/kubectl.ts';

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
