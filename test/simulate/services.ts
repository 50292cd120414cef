import { startInformer } from '../../client/informer.ts';
import { withdrawnLabel } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at } from '../../kube/untyped.ts';
import type { UnservedCluster } from '../../sim/cluster.ts';
import { resources } from '../world/objects.ts';
import type { Pods } from './pods.ts';

/** Through what an app is reached on the physical clusters, read from themselves at every moment. A Service is named as its app. */
export class Services {
  /** By cluster, by app: whether it leads to the app's pods. */
  readonly #of = new Map<string, Map<string, boolean>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  follow(cluster: UnservedCluster, signal: AbortSignal): Promise<void> {
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
    return informer.synced;
  }

  /** Undefined: it is not there. */
  leads(cluster: string, app: string): boolean | undefined {
    return this.#of.get(cluster)?.get(app);
  }

  /** Pods that serve, on clusters that lead new connections to them. */
  reached(pods: Pods, app: string): number {
    const leading = [...this.#of.keys()].filter((cluster) => this.leads(cluster, app));
    return leading.reduce((sum, cluster) => sum + pods.serving(cluster, app).length, 0);
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
