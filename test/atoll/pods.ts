import { Client } from '../../client/client.ts';
import { startInformer } from '../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt } from '../../kube/untyped.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';

/**
 * What the physical clusters' own pods say, by watches of theirs: every state that they were in, not now and then. Of what
 * this process hears at once, as after a pause, only what it comes to: its watches are in no order between them.
 */
export interface PodSamples {
  /** Names of the Ready pods of that cluster now. */
  ready(cluster: string): string[];
  /** The fewest Ready pods, of all clusters together, since `begin`. */
  lowest: number;
  /**
   * The most pods that were not going, Ready or not, since `begin`; of a ReplicaSet no more than it was told to have: a
   * Deployment's controller counts those numbers, so that under load its new pod may be there before the old one is told to go,
   * on one Kubernetes as well (2 of 80 updates of 4 pods with a surge of 1 had 6 for a moment).
   */
  highest: number;
  /** Names that two clusters had at one time since `begin`, neither of them ended. */
  twice: Set<string>;
  begin(): void;
  stop(): void;
}

/** So many turns of the event loop without news: all that has come has been heard. */
const quietTurns = 5;

/** Calls `look` after each of its calls, once no more of them come. */
function onceQuiet(look: () => void): () => void {
  let quiet = quietTurns;
  const turn = () => {
    quiet++;
    if (quiet < quietTurns) setImmediate(turn);
    else look();
  };
  return () => {
    const isDue = quiet < quietTurns;
    quiet = 0;
    if (!isDue) setImmediate(turn);
  };
}

export async function samplePods(clusters: Iterable<Kubernetes>, app: string): Promise<PodSamples> {
  const life = new AbortController();
  const { signal } = life;
  const informers = new Map(
    await Promise.all(
      [...clusters].map(async ({ name, kubeconfig }) => {
        const client = new Client(await transportFromKubeconfigFile(kubeconfig));
        const options = { labelSelector: `app=${app}`, signal };
        const [pods, sets] = [resource, replicaSets].map((of) => startInformer(client, of, options));
        if (!pods || !sets) throw new Error('two were to start');
        return [name, { pods, sets }] as const;
      }),
    ),
  );
  const podsOf = (cluster: string) => informers.get(cluster)?.pods.list() ?? [];
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
    const wanted = [...informers.values()].flatMap(({ sets }) => sets.list());
    samples.highest = Math.max(samples.highest, kept(all.flat(), wanted));
    const seen = new Set<string>();
    for (const name of all.flatMap((pods) => namesOf(pods))) {
      if (seen.has(name)) samples.twice.add(name);
      seen.add(name);
    }
  };
  const both = [...informers.values()].flatMap(({ pods, sets }) => [pods, sets]);
  await Promise.all(both.map(({ synced }) => synced));
  const note = onceQuiet(take);
  for (const informer of both) informer.on({ add: note, update: note, delete: note });
  return samples;
}

const resource = { group: '', version: 'v1', resource: 'pods' };
const replicaSets = { group: 'apps', version: 'v1', resource: 'replicasets' };

/** Pods that are not going, nor about to be told to. */
function kept(pods: readonly KubeObject[], sets: readonly KubeObject[]): number {
  const left = new Map(sets.map((set) => [set.metadata.uid, numberAt(set, 'spec', 'replicas') ?? 1]));
  return pods.filter((pod) => {
    if (pod.metadata.deletionTimestamp) return false;
    const set = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    const more = left.get(set);
    if (more !== undefined) left.set(set, more - 1);
    return more === undefined || more > 0;
  }).length;
}

function isReady(pod: KubeObject): boolean {
  const ready = listAt(pod, 'status', 'conditions').some(
    (c) => at(c, 'type') === 'Ready' && at(c, 'status') === 'True',
  );
  return ready && pod.metadata.deletionTimestamp === undefined;
}

function namesOf(pods: readonly KubeObject[]): string[] {
  return pods.map(({ metadata }) => metadata.name ?? '').sort();
}
