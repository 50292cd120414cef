import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { tokenAuthenticator } from '../apiserver/authn/token.ts';
import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { ApiServer, ApiServerOptions } from '../apiserver/options.ts';
import { createApiServer } from '../apiserver/server.ts';
import { createAuthority } from '../apiserver/tls/ca.ts';
import { Client } from '../client/client.ts';
import { InformerSet } from '../client/informers.ts';
import { startGenericControllers } from '../controller/generic.ts';
import { ensureSystemNamespaces } from '../controller/namespace/furnish.ts';
import type { Transport, UserInfo } from '../kube/http.ts';
import { base64, kubeconfigText } from '../kube/kubeconfig.ts';
import { type Logger, silentLogger } from '../kube/log.ts';
import { timestamp } from '../kube/timestamp.ts';
import { openMemory } from '../storage/memory/memory.ts';
import { runDisruption } from './disruption/controller.ts';
import { Events } from './events.ts';
import { podLogs } from './logs.ts';
import { type Behaviour, defaultBehaviours } from './pods/behaviour.ts';
import { runPods } from './pods/controller.ts';
import { resources } from './resources.ts';
import { runServices } from './services/controller.ts';
import { runEndpoints } from './services/endpoints.ts';
import { usageView } from './usage.ts';
import { runWorkloadControllers } from './workloads/index.ts';

export interface SimulationOptions {
  name: string;
  /** How many nodes, each with 8 CPUs, 32 GiB and room for 110 pods unless `node` says otherwise. */
  nodes?: number;
  node?: { cpu: string; memory: string; pods: string };
  /** Asked in order, before the default ones. */
  behaviours?: readonly Behaviour[];
  /** Services have EndpointSlices, so many milliseconds after their pods changed; absent: they have none. */
  endpointsAfterMs?: number;
  /** The same seed gives every pod the same delays. */
  seed?: number;
  host?: string;
  port?: number;
  logger?: Logger;
}

export interface SimulatedCluster {
  name: string;
  url: string;
  /** The text of an administrator's kubeconfig. */
  kubeconfig: string;
  /** An administrator's client, without a socket. */
  client: Client;
  stop(): Promise<void>;
}

const admin: UserInfo = { name: 'admin', groups: [mastersGroup, 'system:authenticated'] };

/** A physical cluster in this process: the same API code over HTTPS, workload controllers, and pods that pretend. */
export async function startSimulatedCluster(options: SimulationOptions): Promise<SimulatedCluster> {
  const { name, host = '127.0.0.1', port = 0 } = options;
  const authority = await createAuthority(`${name}-ca`);
  const certificate = await authority.issueServer(['localhost', host]);
  const token = randomBytes(16).toString('hex');
  const authenticate = [tokenAuthenticator(new Map([[token, admin]]))];
  const { server, client, stop } = await startUnserved({
    ...options,
    authenticate,
    rootCa: authority.certificate,
  });
  const tls = { key: certificate.privateKey, cert: certificate.certificate, ca: authority.certificate };
  const { url } = await server.listen({ host, port, tls });
  const kubeconfig = kubeconfigText({
    cluster: name,
    user: 'admin',
    context: name,
    clusterFields: { server: url, 'certificate-authority-data': base64(authority.certificate) },
    userFields: { token },
  });
  return { name, url, client, kubeconfig, stop };
}

export interface UnservedCluster extends Pick<SimulatedCluster, 'name' | 'client' | 'stop'> {
  /** The administrator's way to its API. */
  transport: Transport;
}

/** The same, for this process alone: no socket, no certificate. */
export async function startUnservedCluster(options: SimulationOptions): Promise<UnservedCluster> {
  const { server, client, stop } = await startUnserved({ ...options, authenticate: [], rootCa: '' });
  return { name: options.name, client, transport: server.transport(admin), stop };
}

async function startUnserved(
  options: SimulationOptions & { authenticate: ApiServerOptions['authenticate']; rootCa: string },
): Promise<{ server: ApiServer; client: Client; stop(): Promise<void> }> {
  const { name, authenticate, rootCa, logger = silentLogger } = options;
  const store = openMemory();
  const views = [usageView(() => client)];
  const connectPod = podLogs(name);
  // Whoever still speaks to a simulation that ends comes to no other server: it is not waited for.
  const limits = { lingerSeconds: 0.1 };
  const server = createApiServer({ store, logicalClusters: false, authenticate, connectPod, views, limits });
  const client: Client = new Client(server.transport(admin), { userAgent: 'simulation' });
  const stop = new AbortController();
  // One lifetime for as many watches as there are kinds.
  setMaxListeners(0, stop.signal);
  await ensureSystemNamespaces(client);
  await createNodes(client, options);
  const informers = new InformerSet(client, { signal: stop.signal, logger });
  const base = { client, informers, signal: stop.signal, logger };
  const context = { ...base, events: new Events(base) };
  const behaviours = [...(options.behaviours ?? []), ...defaultBehaviours];
  const running = Promise.all([
    startGenericControllers({ ...context, rootCa }),
    runWorkloadControllers(context),
    runPods(context, { behaviours, seed: options.seed ?? 1 }),
    runServices(context),
    ...(options.endpointsAfterMs === undefined ? [] : [runEndpoints(context, options.endpointsAfterMs)]),
    runDisruption(context),
  ]).catch((err: unknown) => {
    if (!stop.signal.aborted) logger.error({ err, cluster: name }, 'the simulation stopped');
  });
  return {
    server,
    client,
    stop: async () => {
      stop.abort();
      await running;
      await server.close();
      await store.close();
    },
  };
}

async function createNodes(client: Client, options: SimulationOptions): Promise<void> {
  const room = options.node ?? { cpu: '8', memory: '32Gi', pods: '110' };
  for (let i = 1; i <= (options.nodes ?? 3); i++) {
    const name = `${options.name}-${i}`;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    };
    await client.create(resources.nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
    const at = timestamp(Date.now());
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Simulated',
      lastTransitionTime: at,
      lastHeartbeatTime: at,
    };
    const status = { capacity: room, allocatable: room, conditions: [ready] };
    await client.patch(resources.nodes, { name, subresource: 'status' }, 'merge', { status });
    // It is ready: pods may come.
    await client.patch(resources.nodes, { name }, 'merge', { spec: { taints: null } });
  }
}
