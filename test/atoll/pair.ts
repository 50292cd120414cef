import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../../kube/object.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { type Metrics, serveMetrics } from '../kubernetes/metrics.ts';
import { type Atoll, startAtoll } from './atoll.ts';
import { atoll, must, mustJson, type Ran, until } from './kubectl.ts';
import { type PodSamples, samplePods } from './pods.ts';

const names = ['east', 'west'] as const;
export type Name = (typeof names)[number];

/** Atoll with two real clusters, which have metrics. */
export interface Pair {
  server: Atoll;
  /** How many pods' worth of work there is, as the cluster's metrics tell; none by default. */
  work: Map<Name, () => number | Promise<number>>;
  cluster(name: Name): Kubernetes;
  /** `atoll cluster add`. */
  add(name: Name, ...more: string[]): Promise<Ran>;
  /** kubectl in Atoll. */
  ctl(...args: string[]): Promise<string>;
  /** Names that kubectl shows in a namespace of Atoll, sorted. */
  shown(kind: string, namespace: string): Promise<string[]>;
  /** Makes that namespace with these objects, and watches its pods, which bear its name as label `app`. */
  journey(namespace: string, ...objects: object[]): Promise<PodSamples>;
  apply(kubeconfig: string, namespace: string, ...objects: object[]): Promise<void>;
  /** A physical cluster's own objects of that name, in whatever namespace. */
  found(name: Name, kind: string, object: string): Promise<KubeObject[]>;
  stop(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const [east, west] = await Promise.all(names.map((name) => startKubernetes({ name, nodes: 2 })));
  if (!east || !west) throw new Error('two clusters were to start');
  const clusters = { east, west };
  const server = await startAtoll();
  const metrics: Metrics[] = [];
  const ctl = (...args: string[]) => must(server.kubeconfig, ...args);
  const list = async (kubeconfig: string, ...args: string[]) =>
    (await mustJson<{ items: KubeObject[] }>(kubeconfig, 'get', ...args)).items;
  const pair: Pair = {
    server,
    work: new Map(),
    ctl,
    cluster: (name) => clusters[name],
    add: (name, ...more) => {
      const { kubeconfig } = clusters[name];
      return atoll(server.kubeconfig, 'cluster', 'add', name, '--kubeconfig', kubeconfig, ...more);
    },
    shown: async (kind, namespace) => {
      const items = await list(server.kubeconfig, kind, '-n', namespace);
      return items.map(({ metadata }) => metadata.name ?? '').sort();
    },
    journey: async (namespace, ...objects) => {
      const pods = await samplePods([east, west], namespace);
      await ctl('create', 'ns', namespace);
      if (objects.length > 0) await pair.apply(server.kubeconfig, namespace, ...objects);
      return pods;
    },
    apply: async (kubeconfig, namespace, ...objects) => {
      const file = join(server.dataDir, 'objects.yaml');
      await writeFile(file, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
      await must(kubeconfig, 'apply', '-n', namespace, '-f', file);
    },
    found: async (name, kind, object) => {
      const items = await list(clusters[name].kubeconfig, kind, '-A');
      return items.filter(({ metadata }) => metadata.name === object);
    },
    stop: async () => {
      await server.dispose();
      await Promise.all(metrics.map((m) => m.stop()));
      await Promise.all([east.stop(), west.stop()]);
    },
  };
  for (const name of names) {
    metrics.push(await serveMetrics(clusters[name], () => pair.work.get(name)?.() ?? 0));
    const { code, stderr } = await pair.add(name);
    if (code !== 0) throw new Error(stderr);
  }
  return pair;
}

export const other = (name: Name): Name => (name === 'east' ? 'west' : 'east');

/** Where the pods are, once `count` are ready there. */
export const whereRun = (pods: PodSamples, count: number): Promise<Name> =>
  until(`${count} pods run`, 60, async () => names.find((name) => pods.ready(name).length === count));

export const runOnly = (pods: PodSamples, where: Name, count: number): Promise<boolean> =>
  until(`${count} run on ${where} and nowhere else`, 60, async () => {
    return pods.ready(where).length === count && pods.ready(other(where)).length === 0;
  });

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image: `registry.example/${app}:1` }] },
});

/** With the label `app`, on `clusters` where they are given. */
export function workload(
  kind: 'Deployment' | 'StatefulSet',
  app: string,
  replicas: number,
  clusters?: string,
): KubeObject<Record<string, unknown>> {
  const annotations = clusters !== undefined && { annotations: { 'atoll.dev/clusters': clusters } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: app, ...annotations },
    spec: { replicas, selector: { matchLabels: { app } }, template: template(app) },
  };
}

/** A StatefulSet whose pods each have a claim `data`, of class `manual`. */
export function withClaims(app: string, replicas: number): KubeObject {
  const { spec, ...rest } = workload('StatefulSet', app, replicas);
  const resources = { requests: { storage: '1Gi' } };
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: 'manual', resources };
  return { ...rest, spec: { ...spec, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }] } };
}

/** What such claims are bound to. */
export function volumes(count: number): KubeObject[] {
  return Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `v${i}` },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      hostPath: { path: `/tmp/v${i}` },
      persistentVolumeReclaimPolicy: 'Retain',
    },
  }));
}
