import { rootCluster } from '../../cluster/names.ts';
import { decodeYaml, encodeYaml } from '../../kube/yaml.ts';

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

/** The same kubeconfig with its servers pointing at another logical cluster. */
export function forLogicalCluster(text: string, cluster: string): string {
  const config = decodeYaml(text).value as { clusters?: { cluster?: { server?: string } }[] };
  for (const entry of config.clusters ?? []) {
    if (!entry.cluster?.server) continue;
    const base = entry.cluster.server.replace(/\/clusters\/[^/]*$/, '').replace(/\/$/, '');
    entry.cluster.server = cluster === rootCluster ? base : `${base}/clusters/${cluster}`;
  }
  return encodeYaml(config as never);
}
