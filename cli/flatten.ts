import { readFileSync } from 'node:fs';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { kubeconfigText } from '../kube/kubeconfig.ts';
import { UsageError } from './errors.ts';

/**
 * One context of a kubeconfig, with the contents of the files that it names: the syncer may run elsewhere. A user
 * that needs a command (`exec`) is refused, since the server runs no commands that come to it over the API.
 */
export async function flatKubeconfig(file: string, context: string | undefined): Promise<string> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw new UsageError(`--kubeconfig ${file} cannot be read: ${(error as Error).message}`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  if (!cluster || !user) throw new UsageError(`--kubeconfig ${file} ${withoutContext(config)}`);
  if (user.exec || user.authProvider) {
    throw new UsageError(
      `--kubeconfig ${file} needs a command to log in, which the server will not run: make a ServiceAccount with a token there and name its kubeconfig`,
    );
  }
  const name = 'physical';
  const clusterEntry = {
    server: cluster.server,
    ...data('certificate-authority-data', cluster.caData, cluster.caFile),
    ...(cluster.skipTLSVerify && { 'insecure-skip-tls-verify': true }),
    ...(cluster.tlsServerName && { 'tls-server-name': cluster.tlsServerName }),
  };
  const userEntry = {
    ...data('client-certificate-data', user.certData, user.certFile),
    ...data('client-key-data', user.keyData, user.keyFile),
    ...(user.token && { token: user.token }),
  };
  return kubeconfigText({
    cluster: name,
    user: name,
    context: name,
    clusterFields: clusterEntry,
    userFields: userEntry,
  });
}

/** What is missing, in words. */
function withoutContext(config: KubeConfig): string {
  const [name, known] = [config.getCurrentContext(), config.getContexts()];
  if (known.length === 0) return 'is no kubeconfig: it has no contexts';
  if (!name)
    return `has no current context: name one by --context (${known.map((one) => one.name).join(', ')})`;
  if (!known.some((one) => one.name === name)) return `has no context ${name}`;
  return `has a context ${name} whose cluster or user it does not have`;
}

function data(key: string, value: string | undefined, file: string | undefined): Record<string, string> {
  if (value) return { [key]: value };
  if (!file) return {};
  try {
    return { [key]: readFileSync(file).toString('base64') };
  } catch (error) {
    throw new UsageError(`--kubeconfig names a file that cannot be read: ${(error as Error).message}`);
  }
}
