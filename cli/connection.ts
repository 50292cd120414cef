import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Client } from '../client/client.ts';
import type { HttpTransport } from '../client/http.ts';
import { currentOf, mergedKubeconfig } from '../client/merged-kubeconfig.ts';
import { clusterOfUrl } from '../client/url.ts';
import { isLogicalClusterName, rootCluster } from '../cluster/names.ts';
import { textAt } from '../kube/untyped.ts';
import { settings } from '../server/settings.ts';
import { UsageError } from './errors.ts';
import { telling } from './telling.ts';

/** What leads to Atoll: of several files, what they say together. */
export interface OwnKubeconfig {
  /** As they were named, for messages. */
  files: string;
  text: string;
}

/**
 * Which kubeconfig leads to Atoll: the flag, ATOLL_KUBECONFIG, KUBECONFIG, then the data directory's own. One that is named
 * and not there is an error, never the next one, which may be the administrator's. Throws UsageError.
 */
export function ownKubeconfig(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): OwnKubeconfig {
  const paths = kubeconfigPaths(flag, env);
  const read = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const files = paths.join(delimiter);
  try {
    return { files, text: mergedKubeconfig(read) };
  } catch (error) {
    throw new UsageError(`kubeconfig ${files} cannot be read: ${(error as Error).message}`);
  }
}

function kubeconfigPaths(flag: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const named = flag || env['ATOLL_KUBECONFIG'] || undefined;
  if (named !== undefined) {
    if (!existsSync(named)) throw new UsageError(`kubeconfig ${named} does not exist`);
    return [named];
  }
  const ofKubectl = fromKubectl(env['KUBECONFIG'] ?? '');
  if (ofKubectl.length > 0) return ofKubectl;
  const own = join(env[settings.dataDir.variable] || settings.dataDir.default, 'admin.kubeconfig');
  const demo = join(demoDataDir(env), 'admin.kubeconfig');
  const found = [own, demo].find((path) => existsSync(path));
  if (found !== undefined) return [found];
  throw new UsageError(
    `no kubeconfig for Atoll: start a server (atoll start), or name one with --atoll-kubeconfig or KUBECONFIG`,
  );
}

/** KUBECONFIG names several files at once, as for kubectl: those that are there. None where it names none. */
function fromKubectl(variable: string): string[] {
  const named = variable.split(delimiter).filter((path) => path !== '');
  const found = named.filter((path) => existsSync(path));
  if (found.length > 0 || named.length === 0) return found;
  const missing = named.length === 1 ? `${named[0]} does not exist` : `none of ${named.join(', ')} exists`;
  throw new UsageError(`KUBECONFIG: ${missing}`);
}

export function demoDataDir(env: NodeJS.ProcessEnv = process.env): string {
  return env[settings.dataDir.variable] || `${settings.dataDir.default}-demo`;
}

export interface Place {
  cluster: string;
  namespace: string;
}

/** Which logical cluster the current context is of, and which Namespace it names. */
export function placeOf({ text }: OwnKubeconfig): Place {
  const { cluster, context } = currentOf(text);
  return {
    cluster: clusterOfUrl(textAt(cluster?.fields, 'server') ?? ''),
    namespace: textAt(context?.fields, 'namespace') || 'default',
  };
}

/** What the flags name, else what the kubeconfig does, where kubectl would go. Throws UsageError. */
export function placeAsked(
  flags: { logicalCluster?: string; namespace?: string; atollKubeconfig?: string },
  env: NodeJS.ProcessEnv = process.env,
): Place {
  const { logicalCluster, namespace } = flags;
  if (logicalCluster !== undefined && !isLogicalClusterName(logicalCluster))
    throw new UsageError(`"${logicalCluster}" is not a logical cluster's name, such as root:team-a`);
  const own = placeOf(ownKubeconfig(flags.atollKubeconfig, env));
  return { cluster: logicalCluster ?? own.cluster, namespace: namespace ?? own.namespace };
}

/** A client of the root logical cluster, as the kubeconfig's user. */
export async function connect(flag: string | undefined): Promise<Client> {
  const own = ownKubeconfig(flag);
  const [{ Client }, transport] = await Promise.all([import('../client/client.ts'), transportOf(own)]);
  return new Client(transport, { cluster: rootCluster, userAgent: 'atoll' });
}

/** To the server itself, whichever of its logical clusters the kubeconfig is of. Throws UsageError. */
export async function transportOf(own: OwnKubeconfig): Promise<HttpTransport> {
  const { transportFromKubeconfig } = await import('../client/kubeconfig.ts');
  const options = { root: true, trusted: true };
  const transport = await transportFromKubeconfig(own.text, options).catch((error: unknown) => {
    throw new UsageError(`kubeconfig ${own.files}: ${(error as Error).message}`);
  });
  return telling(transport, own);
}
