import { currentOf } from '../client/merged-kubeconfig.ts';
import { clusterOfUrl, rootUrl } from '../client/url.ts';
import { rootCluster } from '../cluster/names.ts';
import { base64, kubeconfigText } from '../kube/kubeconfig.ts';
import type { JsonObject } from '../kube/object.ts';
import { textAt } from '../kube/untyped.ts';
import { UsageError } from './errors.ts';

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

/** In place of whose kubeconfig it is. */
export interface OtherUser {
  name: string;
  fields: JsonObject;
}

/**
 * The same credentials for another logical cluster. The context has its name, and nothing but the current context
 * is kept, so that several merge into one file: an entry's name says which logical cluster it leads to. Throws UsageError.
 */
export function forLogicalCluster(text: string, logicalCluster: string, other?: OtherUser): string {
  const { context, cluster, user } = currentOf(text);
  const server = textAt(cluster?.fields, 'server') ?? '';
  if (!context || !cluster || server === '') throw new UsageError('the kubeconfig has no current cluster');
  const as = other ?? user;
  if (!as) throw new UsageError('the kubeconfig has no current user');
  const isRoot = logicalCluster === rootCluster;
  const ofRoot = clusterOfUrl(server) === rootCluster ? cluster.name : 'atoll';
  const { namespace: _, ...contextFields } = context.fields;
  return kubeconfigText({
    cluster: isRoot ? ofRoot : `atoll-${logicalCluster}`,
    user: as.name,
    context: logicalCluster,
    clusterFields: {
      ...cluster.fields,
      server: isRoot ? rootUrl(server) : `${rootUrl(server)}/clusters/${logicalCluster}`,
    },
    userFields: as.fields,
    contextFields,
  });
}
