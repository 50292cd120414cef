import { type Figures, measure } from './measure.ts';
import { type Peer, processorSeconds } from './peers.ts';
import { openPlainWire, openWire } from './wire.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);

/** Who is asked: with a kubeconfig, or by anybody. */
type Asked = Peer | { name: string; url: string };

/** The next request of a run, without its last header lines. */
export type Requests = (peer: Asked) => (i: number) => Request;

interface Request {
  line: string;
  body: string;
}

export interface Turn extends Figures {
  mibPerSecond: number;
  /** Of all threads of all its processes, for each request that was answered; NaN for one that is not a process of its own. */
  processorMicros: number;
}

export function ask(path: string): Request {
  return { line: `GET ${path}`, body: '' };
}

export function post(path: string, object: unknown): Request {
  return { line: `POST ${path}`, body: JSON.stringify(object) };
}

/** The two take turns, so that a slow moment hits both. */
export async function inTurns(
  [ours, theirs]: readonly [Asked, Asked],
  clients: number,
  requests: Requests,
  times = 2,
): Promise<[Turn, Turn]> {
  const turns = new Map<Asked, Turn[]>([
    [ours, []],
    [theirs, []],
  ]);
  for (let time = 0; time < times; time++) {
    for (const peer of [ours, theirs]) turns.get(peer)?.push(await oneTurn(peer, clients, requests(peer)));
  }
  return [mean(turns.get(ours) ?? []), mean(turns.get(theirs) ?? [])];
}

async function oneTurn(peer: Asked, clients: number, next: (i: number) => Request): Promise<Turn> {
  const wire =
    'url' in peer ? await openPlainWire(peer.url, clients) : await openWire(peer.kubeconfig, clients);
  const headers = `${wire.headers}Accept: application/json\r\nUser-Agent: bench\r\n`;
  const run = async (i: number, caller: number) => {
    const { line, body } = next(i);
    const about = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const status = await wire.send(caller, `${line} HTTP/1.1\r\n${headers}${about}\r\n${body}`);
    if (status >= 300) throw new Error(`${peer.name} answered ${status} to ${line}`);
  };
  // A server may need a moment to see that it is busy, and to do something about it.
  await measure(clients, Math.min(3, seconds / 2), (i, caller) => run(-1 - i, caller));
  const before = wire.received();
  const used = await processorTime(peer);
  const from = performance.now();
  const figures = await measure(clients, seconds / 2, run);
  const elapsed = (performance.now() - from) / 1000;
  const micros = ((await processorTime(peer)) - used) * 1e6;
  const mib = (wire.received() - before) / (1 << 20);
  wire.close();
  const answered = figures.perSecond * elapsed;
  return { ...figures, mibPerSecond: mib / elapsed, processorMicros: micros / answered };
}

async function processorTime(peer: Asked): Promise<number> {
  return 'pids' in peer ? await processorSeconds(peer) : Number.NaN;
}

function mean(runs: readonly Turn[]): Turn {
  const of = (field: keyof Turn) => runs.reduce((sum, run) => sum + run[field], 0) / runs.length;
  return {
    perSecond: of('perSecond'),
    p50: of('p50'),
    p99: of('p99'),
    mibPerSecond: of('mibPerSecond'),
    processorMicros: of('processorMicros'),
  };
}
