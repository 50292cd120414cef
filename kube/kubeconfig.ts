import type { JsonObject } from './object.ts';
import { encodeYaml } from './yaml.ts';

/** One way to one cluster. Contents of files go in as `...-data`: see `base64`. */
export interface KubeconfigParts {
  /** What the cluster, its user and the way there are called. */
  cluster: string;
  user: string;
  context: string;
  clusterFields: JsonObject;
  userFields: JsonObject;
  /** Beside the names of the two. */
  contextFields?: JsonObject;
}

/** https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ */
export function kubeconfigText(parts: KubeconfigParts): string {
  const { cluster, user, context } = parts;
  return encodeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: parts.clusterFields }],
    users: [{ name: user, user: parts.userFields }],
    contexts: [{ name: context, context: { ...parts.contextFields, cluster, user } }],
    'current-context': context,
  });
}

/**
 * A user's key, as kubeadm writes one of ECDSA. Some clients take a key of PKCS 8 for one of RSA, fabric8's for Java among
 * them, and fail at it.
 */
export const keyForm = { type: 'sec1', format: 'pem' } as const;

export function base64(text: string | Uint8Array): string {
  return Buffer.from(text as Uint8Array).toString('base64');
}
