import type { JsonObject } from './object.ts';
import { encodeYaml } from './yaml.ts';

/** One way to one cluster. Contents of files go in as `...-data`: see `base64`. */
export interface KubeconfigOf {
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
export function kubeconfigText(of: KubeconfigOf): string {
  const { cluster, user, context } = of;
  return encodeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: of.clusterFields }],
    users: [{ name: user, user: of.userFields }],
    contexts: [{ name: context, context: { ...of.contextFields, cluster, user } }],
    'current-context': context,
  });
}

export function base64(text: string | Uint8Array): string {
  return Buffer.from(text as Uint8Array).toString('base64');
}
