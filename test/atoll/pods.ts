import { Client } from '../../client/client.ts';
import { startInformer } from '../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt } from '../../kube/untyped.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';

/** What the physical clusters' own pods say, by watches of theirs: every state that they were in, not now and then. */
export interface PodSamples {
  /** Names of the Ready pods of that cluster now. */
  ready(cluster: string): string[];
  /** The fewest Ready pods, of all clusters together, since `begin`. */
  lowest: number;
  /** The most pods that were not going, Ready or not, since `begin`. */
  highest: number;
  /** Names that two clusters had at one time since `begin`, neither of them ended. */
  twice: Set<string>;
  begin(): void;
  stop(): void;
}

export async function samplePods(clusters: Iterable<Kubernetes>, app: string): Promise<PodSamples> {
  const life = new AbortController();
  const { signal } = life;
  const informers = new Map(
    await Promise.all(
      [...clusters].map(async ({ name, kubeconfig }) => {
        const client = new Client(await transportFromKubeconfigFile(kubeconfig));
        const labelSelector = `app=${app}`;
        return [name, startInformer(client, resource, { labelSelector, signal })] as const;
      }),
    ),
  );
  const podsOf = (cluster: string) => informers.get(cluster)?.list() ?? [];
  const samples: PodSamples = {
    ready: (cluster) => namesOf(podsOf(cluster).filter(isReady)),
    lowest: Number.POSITIVE_INFINITY,
    highest: 0,
    twice: new Set(),
    begin: () => {
      samples.lowest = Number.POSITIVE_INFINITY;
      samples.highest = 0;
      samples.twice.clear();
      take();
    },
    stop: () => life.abort(),
  };
  const take = () => {
    const all = [...informers.keys()].map(podsOf);
    const count = (counts: (pod: KubeObject) => boolean) => all.flat().filter(counts).length;
    samples.lowest = Math.min(samples.lowest, count(isReady));
    samples.highest = Math.max(
      samples.highest,
      count((pod) => !pod.metadata.deletionTimestamp),
    );
    const seen = new Set<string>();
    for (const name of all.flatMap((pods) => namesOf(pods))) {
      if (seen.has(name)) samples.twice.add(name);
      seen.add(name);
    }
  };
  await Promise.all([...informers.values()].map(({ synced }) => synced));
  for (const informer of informers.values()) informer.on({ add: take, update: take, delete: take });
  return samples;
}

const resource = { group: '', version: 'v1', resource: 'pods' };

function isReady(pod: KubeObject): boolean {
  const ready = listAt(pod, 'status', 'conditions').some(
    (c) => at(c, 'type') === 'Ready' && at(c, 'status') === 'True',
  );
  return ready && pod.metadata.deletionTimestamp === undefined;
}

function namesOf(pods: readonly KubeObject[]): string[] {
  return pods.map(({ metadata }) => metadata.name ?? '').sort();
}
