import { setMaxListeners } from 'node:events';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import { createApiServer } from '../../../apiserver/server.ts';
import { type Authority, createAuthority } from '../../../apiserver/tls/ca.ts';
import { Client } from '../../../client/client.ts';
import { ensureSystemNamespaces } from '../../../controller/namespace/furnish.ts';
import { base64, kubeconfigText } from '../../../kube/kubeconfig.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { deployments } from '../load.ts';
import type { Made } from './messages.ts';

const host = '127.0.0.1';
const token = 'bench';
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

/** Clusters that are an API and one controller: whatever Deployment comes is ready in the next moment. So many cost little. */
export async function startThin(names: readonly string[]): Promise<Made[]> {
  const authority = await createAuthority('bench-ca');
  const { privateKey: key, certificate: cert } = await authority.issueServer([host]);
  const tls = { key, cert, ca: authority.certificate };
  const made: Made[] = [];
  for (const name of names) made.push(await startOne(name, authority, tls));
  return made;
}

async function startOne(
  name: string,
  { certificate }: Authority,
  tls: { key: string; cert: string; ca: string },
): Promise<Made> {
  const authenticate = [tokenAuthenticator(new Map([[token, admin]]))];
  const server = createApiServer({ store: openMemory(), logicalClusters: false, authenticate });
  const client = new Client(server.transport(admin), { userAgent: 'bench' });
  await ensureSystemNamespaces(client);
  const { url } = await server.listen({ host, port: 0, tls });
  makeReady(client).catch((error: unknown) => {
    throw error;
  });
  const kubeconfig = kubeconfigText({
    cluster: name,
    user: 'admin',
    context: name,
    clusterFields: { server: url, 'certificate-authority-data': base64(certificate) },
    userFields: { token },
  });
  return { name, kubeconfig };
}

type Deployment = KubeObject<{ replicas?: number }, { observedGeneration?: number }>;

async function makeReady(client: Client): Promise<void> {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const { metadata } = await client.list(deployments);
  const { resourceVersion } = metadata;
  for await (const event of client.watch<Deployment>(deployments, { resourceVersion, signal })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const { metadata: of, spec, status: before } = event.object;
    if (of.deletionTimestamp || before?.observedGeneration === of.generation) continue;
    const replicas = spec?.replicas ?? 1;
    const status = {
      observedGeneration: of.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    };
    const { namespace = '', name = '' } = of;
    const at = { namespace, name, subresource: 'status' };
    // It may be gone.
    await client.patch(deployments, at, 'merge', { status }).catch(() => undefined);
  }
}
