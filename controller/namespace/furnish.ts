import type { Client } from '../../client/client.ts';
import { logicalClusterOf, type ResourceRef, type Target } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { getOwn, listAt, textAt } from '../../kube/untyped.ts';

export const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' };
export const serviceAccounts: ResourceRef = { group: '', version: 'v1', resource: 'serviceaccounts' };
export const configMaps: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' };

/** https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/ */
export const rootCaName = 'kube-root-ca.crt';
const rootCaKey = 'ca.crt';
const rootCaDescription = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
    'No other usage is guaranteed across distributions of Kubernetes clusters.',
};

/** What a namespace's ConfigMap says of the authority; undefined where there is none, or nobody is told what it is for. */
export function rootCaOf(map: KubeObject | undefined): string | undefined {
  const [key = ''] = Object.keys(rootCaDescription);
  return getOwn(map?.metadata.annotations ?? {}, key) ? textAt(map, 'data', rootCaKey) : undefined;
}

/** Whose fields these objects have in any Kubernetes. */
const apiServer = 'kube-apiserver';
export const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** In a new logical cluster, or where one of them is missing. */
export async function ensureSystemNamespaces(
  client: Client,
  cluster?: string,
  signal?: AbortSignal,
): Promise<void> {
  for (const name of systemNamespaces) {
    // Asked for first: a store without room for another object would refuse also what is there.
    if (await isThere(client, namespaces, { cluster, name }, signal)) continue;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await createIfAbsent(client, namespaces, namespace, { cluster, signal, fieldManager: apiServer });
  }
  await ensureApiService(client, { cluster, signal });
  await ensureServiceRange(client, { cluster, signal });
}

/** Of which the API server hands out addresses. */
const serviceCidr = '10.96.0.0/12';
const services: ResourceRef = { group: '', version: 'v1', resource: 'services' };

/** What clients and charts take for the API server; Pods get the logical cluster's real address when they are placed. */
const apiService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
  },
};

/** Asked for first: that its address is taken, by itself, is said before that its name is. */
async function ensureApiService(
  client: Client,
  options: { cluster: string | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const { namespace, name } = apiService.metadata;
  if (await isThere(client, services, { cluster: options.cluster, namespace, name }, options.signal)) return;
  const writing = { ...options, fieldManager: apiServer };
  try {
    await createIfAbsent(client, services, apiService, writing);
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error;
    // Somebody else's Service has the address.
    const { clusterIP: _, ...spec } = apiService.spec;
    await createIfAbsent(client, services, { ...apiService, spec }, writing);
  }
}

const serviceRanges: ResourceRef = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };

function isReady(range: KubeObject): boolean {
  return listAt(range, 'status', 'conditions').some((one) => textAt(one, 'type') === 'Ready');
}

/** Says where the addresses of Services come from, as each Kubernetes does. */
async function ensureServiceRange(
  client: Client,
  options: { cluster: string | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const { cluster, signal } = options;
  const there = await find(client, serviceRanges, { cluster, name: 'kubernetes' }, signal);
  if (there && isReady(there)) return;
  const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'kubernetes' } };
  const range = { ...kind, spec: { cidrs: [serviceCidr] } };
  const writing = { ...options, fieldManager: apiServer };
  if (!there) await createIfAbsent(client, serviceRanges, range, writing);
  const message = 'Kubernetes default Service CIDR is ready';
  const lastTransitionTime = timestamp();
  const ready = { type: 'Ready', status: 'True', message, lastTransitionTime };
  const target = { cluster, name: 'kubernetes', subresource: 'status' };
  const applying = { fieldManager: 'kubernetes-service-cidr-controller', force: true, signal };
  await client.patch(serviceRanges, target, 'apply', { ...kind, status: { conditions: [ready] } }, applying);
}

/**
 * Logical clusters that were made before each had its ServiceCIDR get theirs; `client` sees all of them. None waits for
 * another, whose webhooks may not answer. What fails is logged, and tried again when the next server leads.
 */
export async function ensureServiceRanges(
  client: Client,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  const failed = (err: unknown) => {
    // Of one that is going nothing is missing.
    if (!signal.aborted && !isTerminating(err))
      logger.warn({ err }, 'not every logical cluster has its ServiceCIDR');
  };
  try {
    const all = (await withoutServiceRange(client, signal)).values();
    const worker = async () => {
      for (const cluster of all) await ensureServiceRange(client, { cluster, signal }).catch(failed);
    };
    await Promise.all(Array.from({ length: 16 }, worker));
  } catch (error) {
    failed(error);
  }
}

async function withoutServiceRange(client: Client, signal: AbortSignal): Promise<string[]> {
  const named = (resource: ResourceRef, name: string) =>
    client.list(resource, { cluster: '*', fieldSelector: `metadata.name=${name}`, signal });
  const ready = (await named(serviceRanges, 'kubernetes')).items.filter(isReady);
  const have = new Set(ready.map(logicalClusterOf));
  const { items } = await named(namespaces, 'default');
  const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(logicalClusterOf).filter((cluster) => !have.has(cluster));
}

/** What every namespace has: the ServiceAccount that Pods get by default, and the CA that they trust. */
export async function furnish(
  client: Client,
  where: { cluster: string | undefined; namespace: string; signal: AbortSignal },
  wanted: { serviceAccount: boolean; rootCa: boolean },
  rootCa: string,
): Promise<void> {
  const { cluster, namespace, signal } = where;
  try {
    if (wanted.serviceAccount) {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
      await createIfAbsent(client, serviceAccounts, account, { cluster, signal });
    }
    if (wanted.rootCa) {
      const data = { [rootCaKey]: rootCa };
      const annotations = rootCaDescription;
      const metadata = { name: rootCaName, namespace, annotations };
      const made = await createIfAbsent(
        client,
        configMaps,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
        { cluster, signal },
      );
      const target = { cluster, namespace, name: rootCaName };
      const change = { metadata: { annotations }, data };
      if (!made) await client.patch(configMaps, target, 'merge', change, { signal });
    }
  } catch (error) {
    // The namespace has gone, or began to go, since we looked.
    if (!isStatusError(error, 'NotFound') && !isTerminating(error)) throw error;
  }
}

function isTerminating(error: unknown): boolean {
  return isStatusError(error, 'Forbidden') && /being terminated/.test(error.message);
}

async function isThere(...asked: Parameters<typeof find>): Promise<boolean> {
  return (await find(...asked)) !== undefined;
}

async function find(
  client: Client,
  resource: ResourceRef,
  target: Target,
  signal: AbortSignal | undefined,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, target, signal);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function createIfAbsent(
  client: Client,
  resource: ResourceRef,
  object: KubeObject,
  options: { cluster: string | undefined; signal: AbortSignal | undefined; fieldManager?: string },
): Promise<boolean> {
  try {
    await client.create(resource, object, options);
    return true;
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return false;
    throw error;
  }
}
