import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Client } from '../client/client.ts';
import type { HttpTransport } from '../client/http.ts';
import { rootCluster } from '../cluster/names.ts';
import { settings } from '../server/settings.ts';
import { UsageError } from './errors.ts';

/**
 * Which kubeconfig leads to Atoll: the flag, ATOLL_KUBECONFIG, KUBECONFIG, then the data directory's own. One that is named
 * and not there is an error, never the next one, which may be the administrator's. Throws UsageError.
 */
export function findKubeconfig(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const named = flag || env['ATOLL_KUBECONFIG'] || undefined;
  if (named !== undefined) {
    if (!existsSync(named)) throw new UsageError(`kubeconfig ${named} does not exist`);
    return named;
  }
  const own = join(env[settings.dataDir.variable] || settings.dataDir.default, 'admin.kubeconfig');
  const demo = join(demoDataDir(env), 'admin.kubeconfig');
  const found = fromKubectl(env['KUBECONFIG'] ?? '') ?? [own, demo].find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new UsageError(
    `no kubeconfig for Atoll: start a server (atoll start), or name one with --atoll-kubeconfig or KUBECONFIG`,
  );
}

/** KUBECONFIG names several files at once, as for kubectl: the first that is there. Undefined where it names none. */
function fromKubectl(variable: string): string | undefined {
  const named = variable.split(delimiter).filter((path) => path !== '');
  const found = named.find((path) => existsSync(path));
  if (found !== undefined || named.length === 0) return found;
  const missing = named.length === 1 ? `${named[0]} does not exist` : `none of ${named.join(', ')} exists`;
  throw new UsageError(`KUBECONFIG: ${missing}`);
}

export function demoDataDir(env: NodeJS.ProcessEnv = process.env): string {
  return env[settings.dataDir.variable] || `${settings.dataDir.default}-demo`;
}

/** A client of the root logical cluster, as the kubeconfig's user. */
export async function connect(flag: string | undefined): Promise<Client> {
  const file = findKubeconfig(flag);
  const [{ Client }, transport] = await Promise.all([import('../client/client.ts'), transportOf(file)]);
  return new Client(transport, { cluster: rootCluster, userAgent: 'atoll' });
}

/** To the server itself, whichever of its logical clusters the kubeconfig is of. Throws UsageError. */
export async function transportOf(file: string): Promise<HttpTransport> {
  const { transportFromKubeconfigFile } = await import('../client/kubeconfig.ts');
  return await transportFromKubeconfigFile(file, { root: true }).catch((error: unknown) => {
    throw new UsageError(`kubeconfig ${file}: ${(error as Error).message}`);
  });
}
