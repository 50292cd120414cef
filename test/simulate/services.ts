import { startInformer } from '../../client/informer.ts';
import { serviceNameLabel } from '../../cluster/endpoints.ts';
import { withdrawnLabel } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt } from '../../kube/untyped.ts';
import type { UnservedCluster } from '../../sim/cluster.ts';
import { resources } from '../world/objects.ts';
import type { Pods } from './pods.ts';

/** A Deployment that went from a cluster. */
export interface Left {
  cluster: string;
  app: string;
  /** Those of its pods that its Service there led to until then. */
  reached: number;
}

/** Through what an app is reached on the physical clusters, read from themselves at every moment. A Service is named as its app. */
export class Services {
  /** By cluster, by app: whether it leads to the app's pods. */
  readonly #of = new Map<string, Map<string, boolean>>();
  /** By cluster that tells of endpoints, by app: how many are ready. */
  readonly #endpoints = new Map<string, Map<string, number>>();
  readonly #onChange: () => void;
  readonly #left: Left[] = [];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  follow(cluster: UnservedCluster, signal: AbortSignal): Promise<unknown> {
    const known = new Map<string, boolean>();
    this.#of.set(cluster.name, known);
    const informer = startInformer(cluster.client, resources.services, { signal });
    const put = ({ metadata, spec }: KubeObject) => {
      known.set(metadata.name ?? '', at(spec, 'selector', withdrawnLabel) === undefined);
      this.#onChange();
    };
    informer.on({
      add: put,
      update: put,
      delete: ({ metadata }) => {
        known.delete(metadata.name ?? '');
        this.#onChange();
      },
    });
    const deployments = startInformer(cluster.client, resources.deployments, { signal });
    const leaves = ({ metadata: { name: app = '' }, status }: KubeObject) => {
      const reached = known.get(app) ? (numberAt(status, 'availableReplicas') ?? 0) : 0;
      this.#left.push({ cluster: cluster.name, app, reached });
      this.#onChange();
    };
    deployments.on({
      // Its pods go first, and then it does itself.
      update: (object, old) => {
        if (object.metadata.deletionTimestamp && !old.metadata.deletionTimestamp) leaves(old);
      },
      delete: (object) => {
        if (!object.metadata.deletionTimestamp) leaves(object);
      },
    });
    return Promise.all([informer.synced, deployments.synced]);
  }

  /** Where pods are led to only once their endpoints are told. */
  followEndpoints(cluster: UnservedCluster, signal: AbortSignal): Promise<unknown> {
    const known = new Map<string, number>();
    this.#endpoints.set(cluster.name, known);
    const informer = startInformer(cluster.client, resources.endpointslices, { signal });
    const put = (slice: KubeObject) => {
      const ready = listAt(slice, 'endpoints').filter((one) => at(one, 'conditions', 'ready') === true);
      known.set(slice.metadata.labels?.[serviceNameLabel] ?? '', ready.length);
      this.#onChange();
    };
    informer.on({ add: put, update: put, delete: (slice) => put({ ...slice, endpoints: [] }) });
    return informer.synced;
  }

  /** Since somebody last asked. */
  left(): Left[] {
    return this.#left.splice(0);
  }

  /** Undefined: it is not there. */
  leads(cluster: string, app: string): boolean | undefined {
    return this.#of.get(cluster)?.get(app);
  }

  /** Pods that serve, on clusters that lead new connections to them. */
  reached(pods: Pods, app: string): number {
    const leading = [...this.#of.keys()].filter((cluster) => this.leads(cluster, app));
    return leading.reduce((sum, cluster) => {
      const told = this.#endpoints.get(cluster);
      const serving = pods.serving(cluster, app).length;
      return sum + (told ? Math.min(serving, told.get(app) ?? 0) : serving);
    }, 0);
  }
}

/** As its user makes it. */
export function serviceOf(app: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { app }, ports: [{ port: 80 }] },
  };
}
