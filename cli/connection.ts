import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../client/client.ts';
import { rootCluster } from '../cluster/names.ts';
import { settings } from '../server/settings.ts';
import { UsageError } from './errors.ts';

/** Which kubeconfig leads to Atoll: the flag, ATOLL_KUBECONFIG, the data directory's own, then KUBECONFIG. */
export function findKubeconfig(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const named = flag || env['ATOLL_KUBECONFIG'] || undefined;
  if (named !== undefined) {
    if (!existsSync(named)) throw new UsageError(`kubeconfig ${named} does not exist`);
    return named;
  }
  const own = join(env[settings.dataDir.variable] || settings.dataDir.default, 'admin.kubeconfig');
  const demo = join(demoDataDir(env), 'admin.kubeconfig');
  const candidates = [env['KUBECONFIG'], own, demo].filter((path) => path !== undefined && path !== '');
  const found = candidates.find((path) => existsSync(path as string));
  if (found !== undefined) return found;
  throw new UsageError(
    `no kubeconfig for Atoll: start a server (atoll start), or name one with --atoll-kubeconfig or KUBECONFIG`,
  );
}

export function demoDataDir(env: NodeJS.ProcessEnv = process.env): string {
  return env[settings.dataDir.variable] || `${settings.dataDir.default}-demo`;
}

/** A client of the root logical cluster, as the kubeconfig's user. */
export async function connect(flag: string | undefined): Promise<Client> {
  const file = findKubeconfig(flag);
  const [{ Client }, { transportFromKubeconfigFile }] = await Promise.all([
    import('../client/client.ts'),
    import('../client/kubeconfig.ts'),
  ]);
  const transport = await transportFromKubeconfigFile(file).catch((error: unknown) => {
    throw new UsageError(`kubeconfig ${file}: ${(error as Error).message}`);
  });
  return new Client(transport, { cluster: rootCluster, userAgent: 'atoll' });
}
