import { setMaxListeners } from 'node:events';
import { createApiServer } from '../../apiserver/server.ts';
import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import { startGenericControllers } from '../../controller/generic.ts';
import { ensureSystemNamespaces } from '../../controller/namespace/furnish.ts';
import { silentLogger } from '../../kube/log.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { Faults } from './faults.ts';
import { find, resources, template, until } from './objects.ts';
import { resourceOf } from './upstream.ts';

const admin = { name: 'admin', groups: ['system:masters'] };

/** One write that a physical cluster was asked for. */
export interface Write {
  method: string;
  path: string;
}

/**
 * A physical cluster with nothing but an API and the generic controllers: namespaces, garbage collection. No workload
 * controller makes anything, and no kubelet ends a pod: a test does it, through the same API.
 */
export class BarePhysical {
  readonly client: Client;
  /** On the way from the syncer. */
  readonly faults = new Faults();
  readonly close: () => Promise<void>;
  /** What the syncer speaks to. */
  readonly transport: ReturnType<Faults['wrap']>;

  private constructor(client: Client, transport: ReturnType<Faults['wrap']>, close: () => Promise<void>) {
    this.client = client;
    this.transport = this.faults.wrap(transport);
    this.close = close;
  }

  static async start(): Promise<BarePhysical> {
    const store = openMemory();
    const server = createApiServer({ store, logicalClusters: false, authenticate: [] });
    const client = new Client(server.transport(admin));
    const life = new AbortController();
    const { signal } = life;
    setMaxListeners(0, signal);
    await ensureSystemNamespaces(client);
    const informers = new InformerSet(client, { signal, logger: silentLogger });
    const controllers = startGenericControllers({ client, informers, signal, logger: silentLogger });
    return new BarePhysical(client, server.transport(admin), async () => {
      life.abort(new Error('done'));
      await controllers;
      await server.close();
      await store.close();
    });
  }

  /** All writes that the syncer has tried, in order. */
  writes(): Write[] {
    const asked = this.faults.requests.map((line) => {
      const [method = '', url = ''] = line.split(' ');
      return { method, path: url.split('?')[0] ?? '' };
    });
    return asked.filter(({ method }) => method !== 'GET');
  }

  find(resource: (typeof resources)[keyof typeof resources], namespace: string, name: string) {
    return find(this.client, resource, name, namespace);
  }

  /** As the controller of a Deployment says what there is of it. */
  async roll(namespace: string, name: string, ready: number): Promise<void> {
    const { metadata } = await this.client.get(resources.deployments, { namespace, name });
    const status = {
      observedGeneration: metadata.generation,
      replicas: ready,
      readyReplicas: ready,
    };
    const at = { namespace, name, subresource: 'status' };
    await this.client.patch(resources.deployments, at, 'merge', { status });
  }

  /** As a controller makes it of what it controls. */
  async child(kind: 'ReplicaSet' | 'Pod', name: string, owner: OwnedBy): Promise<KubeObject> {
    const { of, holds = true, node } = owner;
    const { namespace = '', name: above = '', uid = '' } = of.metadata;
    const ownerReferences: OwnerReference[] = [
      {
        apiVersion: of.apiVersion,
        kind: of.kind,
        name: above,
        uid,
        controller: true,
        blockOwnerDeletion: holds,
      },
    ];
    const labels = { app: 'web' };
    const pod = template('web') as { spec: object };
    const isPod = kind === 'Pod';
    const object = {
      apiVersion: isPod ? 'v1' : 'apps/v1',
      kind,
      metadata: { name, namespace, labels, ownerReferences },
      spec: isPod
        ? { ...pod.spec, ...(node && { nodeName: node }) }
        : { replicas: 1, selector: { matchLabels: labels }, template: pod },
    };
    if (isPod)
      await until('its ServiceAccount', () => this.find(resources.serviceaccounts, namespace, 'default'));
    return await this.client.create(resourceOf(object), object);
  }

  /** As a kubelet does when all containers have ended, or `kubectl delete --force`: gone at once. */
  async end(namespace: string, pod: string): Promise<void> {
    await this.client.delete(resources.pods, { namespace, name: pod }, { gracePeriodSeconds: 0 });
  }
}

interface OwnedBy {
  of: KubeObject;
  /** Whether its owner, deleted in the foreground, waits for it; default true. */
  holds?: boolean;
  /** A pod that is on a node takes its time to end. */
  node?: string;
}
