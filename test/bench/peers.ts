import { readFile } from 'node:fs/promises';
import { type Atoll, type AtollOptions, bundled, startAtoll } from '../atoll/atoll.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** One of the two servers that are compared. */
export interface Peer {
  name: string;
  kubeconfig: string;
  /** Of all its processes now: the peer of Atoll is a kube-apiserver and its etcd. */
  pids(): Promise<readonly number[]>;
}

export type Peers = readonly [Peer, Peer];

export function peers(ours: Atoll, theirs: Kubernetes): Peers {
  return [
    { name: 'atoll', kubeconfig: ours.kubeconfig, pids: () => pidsOf(ours) },
    {
      name: 'kubernetes',
      kubeconfig: theirs.kubeconfig,
      pids: async () => [theirs.pids.apiserver, theirs.pids.etcd],
    },
  ];
}

/** Both on this machine, fresh, with how long each took from its process's start until it was ready. */
export async function startBoth(options: AtollOptions = {}) {
  const [ours, oursMs] = await timed(() => startAtoll({ ...options, program: bundled }));
  const [theirs, theirsMs] = await timed(() => startKubernetes({ name: 'peer', fsync: true, apiOnly: true }));
  const stop = async () => {
    await theirs.stop();
    await ours.dispose();
  };
  return { ours, theirs, both: peers(ours, theirs), ready: [oursMs, theirsMs] as const, stop };
}

async function timed<T>(start: () => Promise<T>): Promise<[T, number]> {
  const from = performance.now();
  return [await start(), performance.now() - from];
}

/** Of all processes of a server. */
export async function pidsOf({ pid }: Atoll): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

export async function residentMiB({ pids }: Peer): Promise<number> {
  let total = 0;
  for (const pid of await pids()) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    total += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }
  return total;
}

/** Seconds of processor time that its processes have used. */
export async function processorSeconds({ pids }: Peer): Promise<number> {
  let ticks = 0;
  for (const pid of await pids()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}
