import { Client } from '../../client/client.ts';
import { type Informer, startInformer } from '../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { serviceNameLabel } from '../../cluster/endpoints.ts';
import type { KubeObject } from '../../kube/object.ts';
import { Random } from '../fault/random.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';

const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
/** How late it may learn. */
const mostMs = 1000;

/** A kube-proxy over clusters whose networks are one. */
export interface KubeProxy {
  /** Where a connection to that Service may go now. */
  endpoints(service: string): readonly Endpoint[];
  /** What it learned, for whoever asks why a request failed. */
  readonly history: readonly string[];
  stop(): void;
}

/** Of what a cluster's slices become it learns in their order, each up to a second late. */
export async function startKubeProxy(
  clusters: readonly Kubernetes[],
  services: readonly string[],
  seed: number,
): Promise<KubeProxy> {
  const life = new AbortController();
  const { signal } = life;
  const random = new Random(seed);
  const known = new Map<string, KubeObject>();
  const history: string[] = [];
  const endpoints = (service: string) =>
    endpointsOf(
      [...known.values()].filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === service),
    );

  const follow = (cluster: string, informer: Informer) => {
    let last = 0;
    const late = (slice: KubeObject, learn: (key: string) => void) => {
      // Not the time of day, which may be set back: it would learn nothing for so long.
      last = Math.max(last, performance.now() + random.between(0, mostMs));
      setTimeout(() => {
        learn(`${cluster}/${slice.metadata.uid}`);
        const service = slice.metadata.labels?.[serviceNameLabel] ?? '';
        const where = endpoints(service).map(({ ip }) => ip);
        history.push(`${new Date().toISOString()} proxy ${service}: ${where.join(' ')}`);
      }, last - performance.now());
    };
    const set = (slice: KubeObject) => late(slice, (key) => known.set(key, slice));
    informer.on({ add: set, update: set, delete: (slice) => late(slice, (key) => known.delete(key)) });
  };

  const labelSelector = `${serviceNameLabel} in (${services.join(',')})`;
  for (const { name, kubeconfig } of clusters) {
    const client = new Client(await transportFromKubeconfigFile(kubeconfig));
    const informer = startInformer(client, slices, { labelSelector, signal });
    follow(name, informer);
    await informer.synced;
  }
  return { endpoints, history, stop: () => life.abort() };
}
