import { rootUrl } from '../client/url.ts';
import { rootCluster } from '../cluster/names.ts';
import { base64, kubeconfigText } from '../kube/kubeconfig.ts';
import type { JsonObject } from '../kube/object.ts';
import { decodeYaml } from '../kube/yaml.ts';

export interface Credentials {
  server: string;
  /** PEM: by which the server is known. */
  ca: string;
  /** The name that is expected in the server's certificate, where that is not the URL's. */
  tlsServerName?: string | undefined;
  certificate: string;
  privateKey: string;
  token: string;
}

/** The administrator's. Its one user carries a client certificate and the token: whichever a client prefers. */
export function adminKubeconfig(credentials: Credentials): string {
  return kubeconfigText({
    cluster: 'atoll',
    user: 'admin',
    context: rootCluster,
    clusterFields: {
      server: credentials.server,
      'certificate-authority-data': base64(credentials.ca),
      ...(credentials.tlsServerName !== undefined && { 'tls-server-name': credentials.tlsServerName }),
    },
    userFields: {
      'client-certificate-data': base64(credentials.certificate),
      'client-key-data': base64(credentials.privateKey),
      token: credentials.token,
    },
  });
}

interface Kubeconfig {
  clusters?: { name?: string; cluster?: JsonObject }[];
  users?: { name?: string; user?: JsonObject }[];
  contexts?: { name?: string; context?: JsonObject }[];
  'current-context'?: string;
}

/** In place of whose kubeconfig it is. */
export interface OtherUser {
  name: string;
  fields: JsonObject;
}

/**
 * The same credentials for another logical cluster. The context has its name, and nothing but the current context
 * is kept, so that several merge into one file.
 */
export function forLogicalCluster(text: string, logicalCluster: string, other?: OtherUser): string {
  const config = decodeYaml(text).value as Kubeconfig;
  const current = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const entry = config.clusters?.find(({ name }) => name === current?.['cluster']) ?? config.clusters?.[0];
  const user = config.users?.find(({ name }) => name === current?.['user']) ?? config.users?.[0];
  const root = rootUrl(String(entry?.cluster?.['server'] ?? ''));
  const isRoot = logicalCluster === rootCluster;
  const { namespace: _, ...contextFields } = current ?? {};
  return kubeconfigText({
    cluster: isRoot ? (entry?.name ?? 'atoll') : `atoll-${logicalCluster}`,
    user: other?.name ?? user?.name ?? 'admin',
    context: logicalCluster,
    clusterFields: { ...entry?.cluster, server: isRoot ? root : `${root}/clusters/${logicalCluster}` },
    userFields: other?.fields ?? user?.user ?? {},
    contextFields,
  });
}
