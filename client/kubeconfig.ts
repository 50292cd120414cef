import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { numberAt, textAt } from '../kube/untyped.ts';
import { KubeconfigError } from './errors.ts';
import { type Credentials, type HttpConfig, type HttpTransport, httpTransport } from './http.ts';
import { plainKubeconfig } from './plain-kubeconfig.ts';
import { rootUrl } from './url.ts';

export interface KubeconfigOptions extends Omit<HttpConfig, 'server' | 'refresh' | keyof Credentials> {
  /** Default: current-context. */
  context?: string;
  /**
   * Allows what reaches out of the text: commands (`exec`, auth providers) and file names. Never for a
   * kubeconfig that came over the network: its author would run commands and read files as us.
   */
  trusted?: boolean;
  /** Leads to the server itself, also where the kubeconfig is of one of Atoll's logical clusters. */
  root?: boolean;
}

/** A command or a file is asked for fresh credentials at most this often. */
const refreshMs = 10_000;

/** Reads `file`, which is trusted: it is the user's own. */
export async function transportFromKubeconfigFile(
  file: string,
  options: Omit<KubeconfigOptions, 'trusted'> = {},
): Promise<HttpTransport> {
  return transportFromKubeconfig(await readFile(file, 'utf8'), { ...options, trusted: true });
}

/** https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/ */
export async function transportFromKubeconfig(
  text: string,
  options: KubeconfigOptions = {},
): Promise<HttpTransport> {
  const { context, trusted = false, root = false, ...limits } = options;
  const place = (server: string) => (root ? rootUrl(server) : server);
  const plain = plainKubeconfig(text, context);
  if (plain !== undefined) {
    return httpTransport({ ...limits, ...plain.credentials, server: place(plain.server) });
  }
  const config = await load(text, context);
  const cluster = config.getCurrentCluster();
  if (!cluster?.server) throw new KubeconfigError('the kubeconfig has no current cluster');
  if (cluster.proxyUrl) throw new KubeconfigError('proxy-url is not supported');
  if (!trusted) refuseReachingOut(config);
  let last: { at: number; credentials: Promise<Credentials> } | undefined;
  const refresh = (): Promise<Credentials> => {
    const now = Date.now();
    if (!last || now - last.at > refreshMs) {
      const credentials = credentialsOf(config);
      credentials.catch(() => {
        last = undefined;
      });
      last = { at: now, credentials };
    }
    return last.credentials;
  };
  return httpTransport({ ...limits, server: place(cluster.server), refresh });
}

async function load(text: string, context: string | undefined): Promise<KubeConfig> {
  // Loaded by those who have a kubeconfig to read: it brings the generated classes of every kind, 30 MiB of memory.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (error) {
    throw new KubeconfigError(`the kubeconfig cannot be read${whereYaml(error)}`);
  }
  if (context !== undefined) {
    if (!config.getContextObject(context))
      throw new KubeconfigError(`no context exists with the name: "${context}"`);
    config.setCurrentContext(context);
  }
  return config;
}

/** What a parser quotes, in or behind its reason, may be a token. */
function whereYaml(error: unknown): string {
  const reason = textAt(error, 'reason')
    ?.split(/["'!<:]/)[0]
    ?.trim();
  const line = numberAt(error, 'mark', 'line');
  return reason === undefined ? '' : `: ${reason}${line === undefined ? '' : ` in line ${line + 1}`}`;
}

function refuseReachingOut(config: KubeConfig): void {
  const user = config.getCurrentUser();
  const cluster = config.getCurrentCluster();
  const reaching = [
    user?.exec && 'exec',
    user?.authProvider && 'auth-provider',
    user?.certFile && 'client-certificate',
    user?.keyFile && 'client-key',
    cluster?.caFile && 'certificate-authority',
  ].filter(Boolean);
  if (reaching.length > 0)
    throw new KubeconfigError(`not allowed in this kubeconfig: ${reaching.join(', ')}`);
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options).catch((cause: Error) => {
    throw new KubeconfigError(`no credentials: ${cause.message.trim()}`, cause);
  });
  const headers = new Headers((options.headers ?? {}) as Record<string, string>);
  const basic = options.auth && `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return {
    ca: pem(options.ca),
    cert: pem(options.cert),
    key: pem(options.key),
    passphrase: options.passphrase,
    tlsServerName: options.servername ?? config.getCurrentCluster()?.tlsServerName,
    insecure: options.rejectUnauthorized === false,
    authorization: headers.get('authorization') ?? (basic || undefined),
  };
}

function pem(value: unknown): Buffer | string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}
