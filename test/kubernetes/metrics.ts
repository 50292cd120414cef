import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../apiserver/tls/ca.ts';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Kubernetes } from './kubernetes.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const services = { group: '', version: 'v1', resource: 'services' };
const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const groupVersion = 'metrics.k8s.io/v1beta1';
const path = /^\/apis\/metrics\.k8s\.io\/v1beta1\/namespaces\/([^/]+)\/pods$/;

export interface Metrics {
  stop(): Promise<void>;
}

/**
 * metrics.k8s.io of a real cluster, behind its aggregator: the pods that are asked for together use `work` times 100m
 * of cpu, whatever runs in them.
 */
export async function serveMetrics(of: Kubernetes, work: () => number | Promise<number>): Promise<Metrics> {
  const client = new Client(await transportFromKubeconfigFile(of.kubeconfig));
  const authority = await createAuthority('metrics');
  const { certificate, privateKey } = await authority.issueServer(['localhost']);
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const url = new URL(request.url ?? '', 'https://localhost');
    const found = path.exec(url.pathname);
    const labelSelector = url.searchParams.get('labelSelector') ?? '';
    const answer = found ? usage(client, { namespace: found[1], labelSelector }, work) : resources;
    Promise.resolve(answer).then(
      (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // The only kind of Service that the aggregator reaches on this machine.
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'metrics', namespace: 'kube-system' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await client.create(apiServices, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: 'kube-system', name: 'metrics', port },
    },
  });
  return {
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: [
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
  ],
};

async function usage(
  client: Client,
  where: { namespace: string | undefined; labelSelector: string },
  work: () => number | Promise<number>,
) {
  const { items } = await client.list<KubeObject<{ containers: { name: string }[] }>>(pods, where);
  const timestamp = new Date().toISOString();
  const each = Math.round(((await work()) * 100) / Math.max(1, items.length));
  return {
    kind: 'PodMetricsList',
    apiVersion: groupVersion,
    metadata: {},
    items: items.map(({ metadata: { name, namespace, labels }, spec }) => ({
      metadata: { name, namespace, labels },
      timestamp,
      window: '1s',
      containers: (spec?.containers ?? []).map((c) => ({
        name: c.name,
        usage: { cpu: `${each}m`, memory: '1Mi' },
      })),
    })),
  };
}
