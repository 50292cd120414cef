import { rootCluster } from '../cluster/names.ts';
import { decodeYaml, encodeYaml } from '../kube/yaml.ts';

export interface Credentials {
  server: string;
  ca: string;
  certificate: string;
  privateKey: string;
  token: string;
}

/**
 * The administrator's kubeconfig. Its one user carries a client certificate and the token: whichever a client
 * prefers. https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
export function adminKubeconfig(of: Credentials): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return encodeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'atoll', cluster: { server: of.server, 'certificate-authority-data': base64(of.ca) } },
    ],
    users: [
      {
        name: 'admin',
        user: {
          'client-certificate-data': base64(of.certificate),
          'client-key-data': base64(of.privateKey),
          token: of.token,
        },
      },
    ],
    contexts: [{ name: rootCluster, context: { cluster: 'atoll', user: 'admin' } }],
    'current-context': rootCluster,
  });
}

interface Kubeconfig {
  clusters?: { name?: string; cluster?: { server?: string } }[];
  contexts?: { name?: string; context?: { cluster?: string; user?: string; namespace?: string } }[];
  'current-context'?: string;
}

/**
 * The same credentials for another logical cluster. The context has its name, and nothing but the current context
 * is kept, so that several merge into one file.
 */
export function forLogicalCluster(text: string, cluster: string): string {
  const config = decodeYaml(text).value as Kubeconfig;
  const current = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const entry = config.clusters?.find(({ name }) => name === current?.cluster) ?? config.clusters?.[0];
  const server = (entry?.cluster?.server ?? '').replace(/\/clusters\/[^/]*\/?$/, '').replace(/\/$/, '');
  const target = cluster === rootCluster ? server : `${server}/clusters/${cluster}`;
  const name = cluster === rootCluster ? (entry?.name ?? 'atoll') : `atoll-${cluster}`;
  const { namespace: _, ...context } = { ...current, cluster: name };
  return encodeYaml({
    ...config,
    clusters: [{ name, cluster: { ...entry?.cluster, server: target } }],
    contexts: [{ name: cluster, context }],
    'current-context': cluster,
  } as never);
}
