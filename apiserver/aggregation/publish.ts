import { isStatusError } from '../../kube/status.ts';
import type { Registry } from '../registry/types.ts';
import type { RequestInfo } from '../request.ts';
import { proxyName, type RequestHeaderAuthorities } from './authority.ts';

const namespace = 'kube-system';
const name = 'extension-apiserver-authentication';

/** Whether a request looks for what a logical cluster's own API servers know us by: that is written when it is looked for. */
export function looksForAuthentication({
  group,
  resource,
  name: asked,
  selected,
  ...info
}: RequestInfo): boolean {
  const isThere = group === '' && resource === 'configmaps' && info.namespace === namespace;
  return isThere && (asked === name || selected === name) && info.cluster !== '*' && info.verb !== 'create';
}

/**
 * Writes the ConfigMap by which API servers of a logical cluster know our certificate, if it is not there; what somebody
 * changed in it stays.
 */
export async function publishAuthentication(
  registry: Registry,
  authorities: RequestHeaderAuthorities,
  cluster: string,
): Promise<void> {
  const at = { cluster, group: '', resource: 'configmaps', namespace };
  const there = await registry.get({ ...at, name }).catch((error: unknown) => {
    if (!isStatusError(error, 'NotFound')) throw error;
  });
  if (there !== undefined) return;
  const { requestHeaderCa, clientCa } = await authorities.published(cluster);
  const data = {
    'client-ca-file': clientCa,
    'requestheader-allowed-names': JSON.stringify([proxyName]),
    'requestheader-client-ca-file': requestHeaderCa,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
  try {
    await registry.create(at, object, { manager: 'kube-apiserver' });
  } catch (error) {
    // Somebody else wrote it, the namespace is not there or goes, or it has no room: who looks finds what there is.
    if (!isStatusError(error)) throw error;
  }
}
