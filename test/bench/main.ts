import { readFile } from 'node:fs/promises';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll } from '../atoll/kubectl.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { measureApplyToPresent } from './apply.ts';
import { configMap, configMaps, connect, type Figures, fill, measure } from './load.ts';
import { openWire } from './wire.ts';

/** Ratios above 1 mean that Atoll is better. The two servers take turns, so that a slow moment hits both. */
const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);
/** `create`, `apply`: those rows alone. `etcd`: creates beside a kube-apiserver on the same etcd. */
const only = process.env['BENCH_ONLY'];

interface Peer {
  name: string;
  kubeconfig: string;
  rss(): Promise<number>;
}

if (only !== 'apply') await besideAPeer();
if (only === undefined || only === 'apply') await applies();

async function besideAPeer(): Promise<void> {
  const bootOurs = performance.now();
  const server = await startAtoll();
  const oursReady = performance.now() - bootOurs;
  const bootTheirs = performance.now();
  const kubernetes = await startKubernetes({ name: 'peer', fsync: true, apiOnly: true });
  const theirsReady = performance.now() - bootTheirs;
  try {
    print(['figure', 'Atoll', 'kube-apiserver + etcd', 'ratio']);
    row('ready after process start, ms', oursReady, theirsReady, 'less');
    if (only !== 'etcd') await verbs(peers(server, kubernetes));
    if (only === undefined || only === 'etcd') await onOneEtcd(kubernetes);
  } finally {
    await kubernetes.stop();
    await server.dispose();
  }
}

function peers(ours: Atoll, theirs: Kubernetes): [Peer, Peer] {
  return [
    { name: 'atoll', kubeconfig: ours.kubeconfig, rss: () => residentMiB([ours.pid]) },
    {
      name: 'kubernetes',
      kubeconfig: theirs.kubeconfig,
      rss: () => residentMiB([theirs.pids.apiserver, theirs.pids.etcd]),
    },
  ];
}

async function verbs([ours, theirs]: [Peer, Peer]): Promise<void> {
  const all = '/api/v1/namespaces/default/configmaps';
  for (const clients of [1, 16, 64, 512]) {
    const create = await both(ours, theirs, clients, (peer) => {
      const run = `c${clients}-${peer.name}-${process.hrtime.bigint()}`;
      return (i) => post(all, configMap(`${run}-${i}`));
    });
    figures(`create, ${clients} clients`, create);
    if (clients > 64 || only === 'create') continue;
    const names = Array.from({ length: 100 }, (_, i) => `seed-${clients}-${i}`);
    for (const peer of [ours, theirs]) {
      const { client, close } = await connect(peer.kubeconfig, 8);
      for (const name of names) await client.create(configMaps, configMap(name));
      close();
    }
    const get = await both(
      ours,
      theirs,
      clients,
      () => (i) => ask(`${all}/${names[Math.abs(i) % names.length]}`),
    );
    figures(`get, ${clients} clients`, get);
    const list = await both(ours, theirs, clients, () => () => ask(`${all}?limit=500`));
    figures(`list of 500, ${clients} clients`, list);
  }
  if (only === 'create') return;
  for (const peer of [ours, theirs]) {
    const { client, close } = await connect(peer.kubeconfig, 64);
    await fill(client, 10_000, 'fill');
    close();
  }
  row('RSS with 10,000 objects of 1 KiB more, MiB', await ours.rss(), await theirs.rss(), 'less');
}

/** Both servers on the same etcd: its disk and its log are the same for both. */
async function onOneEtcd(kubernetes: Kubernetes): Promise<void> {
  const ours = await startAtoll({ args: ['--storage', `etcd://${kubernetes.etcd}/atoll`] });
  try {
    for (const clients of [1, 16, 64, 512]) {
      const create = await both(...peers(ours, kubernetes), clients, (peer) => {
        const run = `e${clients}-${peer.name}-${process.hrtime.bigint()}`;
        return (i) => post('/api/v1/namespaces/default/configmaps', configMap(`${run}-${i}`));
      });
      figures(`create on the same etcd, ${clients} clients`, create);
    }
  } finally {
    await ours.dispose();
  }
}

/** The next request of a run, without its last header lines. */
type Requests = (peer: Peer) => (i: number) => Request;

interface Request {
  line: string;
  body: string;
}

function ask(path: string): Request {
  return { line: `GET ${path}`, body: '' };
}

function post(path: string, object: unknown): Request {
  return { line: `POST ${path}`, body: JSON.stringify(object) };
}

async function both(
  ours: Peer,
  theirs: Peer,
  clients: number,
  requests: Requests,
): Promise<[Figures, Figures]> {
  const turns = { [ours.name]: [] as Figures[], [theirs.name]: [] as Figures[] };
  for (const peer of [ours, theirs, ours, theirs]) {
    const wire = await openWire(peer.kubeconfig, clients);
    const next = requests(peer);
    const headers = `${wire.headers}Accept: application/json\r\nUser-Agent: bench\r\n`;
    const run = async (i: number, caller: number) => {
      const { line, body } = next(i);
      const about =
        body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      const status = await wire.send(caller, `${line} HTTP/1.1\r\n${headers}${about}\r\n${body}`);
      if (status >= 300) throw new Error(`${peer.name} answered ${status} to ${line}`);
    };
    await measure(clients, Math.min(2, seconds / 2), (i, caller) => run(-1 - i, caller));
    turns[peer.name]?.push(await measure(clients, seconds / 2, run));
    wire.close();
  }
  return [mean(turns[ours.name] ?? []), mean(turns[theirs.name] ?? [])];
}

function mean(runs: readonly Figures[]): Figures {
  const of = (field: keyof Figures) => runs.reduce((sum, run) => sum + run[field], 0) / runs.length;
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') };
}

/** From an acknowledged apply to the object's presence on a real physical cluster. */
async function applies(): Promise<void> {
  const physical = await startKubernetes({ name: 'physical' });
  const ours = await startAtoll();
  try {
    const added = await atoll(
      ours.kubeconfig,
      'cluster',
      'add',
      'physical',
      '--kubeconfig',
      physical.kubeconfig,
    );
    if (added.code !== 0) throw new Error(added.stderr);
    const { p50, p99 } = await measureApplyToPresent(ours.kubeconfig, physical.kubeconfig, 1000);
    print(['apply to present on a physical cluster, 1,000 applies: p50 ms', p50.toFixed(0), '-', '-']);
    print(['apply to present on a physical cluster, 1,000 applies: p99 ms', p99.toFixed(0), '-', '-']);
  } finally {
    await ours.dispose();
    await physical.stop();
  }
}

function figures(name: string, [ours, theirs]: [Figures, Figures]): void {
  row(`${name}: per second`, ours.perSecond, theirs.perSecond, 'more');
  row(`${name}: p99 ms`, ours.p99, theirs.p99, 'less');
}

function row(name: string, ours: number, theirs: number, better: 'more' | 'less'): void {
  const ratio = better === 'more' ? ours / theirs : theirs / ours;
  print([name, show(ours), show(theirs), `${ratio.toFixed(2)}x`]);
}

function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

async function residentMiB(pids: readonly number[]): Promise<number> {
  let total = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    total += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }
  return total;
}
