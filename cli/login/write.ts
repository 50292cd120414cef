import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { rootUrl } from '../../client/url.ts';
import { rootCluster } from '../../cluster/names.ts';
import { base64 } from '../../kube/kubeconfig.ts';
import { YamlError } from '../../kube/yaml.ts';
import { writePrivate } from '../../server/private-file.ts';
import { UsageError } from '../errors.ts';
import { authorityOf } from './authority.ts';
import { credentialVersion } from './credential.ts';
import { type Entries, withEntries } from './kubeconfig.ts';
import { argumentsOf, type Provider } from './provider.ts';

/** Where a login leads to. */
export interface Destination {
  server: string;
  logicalCluster: string;
  /** Of PEM: by which the server is known; else by whom this machine trusts. */
  caFile: string | undefined;
  /** Default: the logical cluster. */
  context: string | undefined;
}

/** As kubectl takes it: the flag, the first file of KUBECONFIG, the one in the home directory. */
export function kubeconfigFile(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const [first] = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return resolve(flag ?? first ?? join(homedir(), '.kube', 'config'));
}

/** What is to stand in `file`, or why it cannot: nobody has signed in for nothing. Throws UsageError. */
export async function loginKubeconfig(file: string, entries: Entries): Promise<string> {
  const before = existsSync(file) ? await readFile(file, 'utf8') : '';
  try {
    return withEntries(before, entries);
  } catch (error) {
    if (error instanceof YamlError) throw new UsageError(`${file} cannot be read: ${error.message}`);
    if (error instanceof UsageError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

export async function writeKubeconfig(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writePrivate(existsSync(file) ? realpathSync(file) : file, text);
}

/** Throws UsageError. */
export async function entriesOf(to: Destination, provider: Provider): Promise<Entries> {
  const { server, logicalCluster, caFile, context = logicalCluster } = to;
  const isRoot = logicalCluster === rootCluster;
  const own = isRoot ? 'atoll' : `atoll-${logicalCluster}`;
  const ca = await authorityOf('--certificate-authority', caFile);
  const { host, pathname } = new URL(provider.issuer);
  const [command = '', ...args] = ownCommand(process.argv[1] ?? '', process.env);
  return {
    context,
    cluster: {
      name: to.context === undefined ? own : `atoll-${to.context}`,
      fields: {
        server: isRoot ? rootUrl(server) : `${rootUrl(server)}/clusters/${logicalCluster}`,
        ...(ca && { 'certificate-authority-data': base64(ca) }),
      },
    },
    user: {
      name: `${provider.clientId}@${host}${pathname === '/' ? '' : pathname}`,
      fields: {
        exec: {
          apiVersion: credentialVersion,
          command,
          args: [...args, 'login', 'token', ...argumentsOf(provider)],
          interactiveMode: 'IfAvailable',
          provideClusterInfo: false,
          installHint: 'atoll is not where it was when `atoll login` wrote this: install it, or log in again',
        },
      },
    },
  };
}

/** How kubectl starts this program: by its name where PATH leads to it, else by where it is. */
export function ownCommand(script: string, env: NodeJS.ProcessEnv): string[] {
  const here = existsSync(script) ? realpathSync(script) : resolve(script);
  const found = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'atoll'));
  const first = found.find((path) => existsSync(path));
  return first !== undefined && realpathSync(first) === here ? ['atoll'] : [process.execPath, here];
}
