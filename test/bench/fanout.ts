import { setTimeout as sleep } from 'node:timers/promises';
import { configMap, configMaps, connect } from './load.ts';
import { percentile } from './measure.ts';
import { type Peer, processorSeconds } from './peers.ts';
import { openWire } from './wire.ts';

export interface Fanout {
  /** From the start of a write to an event that tells of it, milliseconds. */
  p99: number;
  /** Of the server's processor time, its watches' start included in neither. */
  microsPerEvent: number;
  /** Of the events that were looked for: what nobody saw, as the server had ended the watch for being slow. */
  lost: number;
}

const path = '/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=';
/** Of so many watchers one looks when each event comes; the others only take their bytes. */
const oneIn = 20;

/** `watchers` of one kind, each on a connection of its own, see every one of `perSecond` writes a second. */
export async function measureFanout(
  peer: Peer,
  { watchers, perSecond, seconds }: { watchers: number; perSecond: number; seconds: number },
): Promise<Fanout> {
  const { client, close } = await connect(peer.kubeconfig, 16);
  const { metadata } = await client.list(configMaps, { namespace: 'default', limit: 1 });
  const wire = await openWire(peer.kubeconfig, watchers);
  const began = new Map<string, number>();
  const latencies: number[] = [];
  const writes = seconds * perSecond;
  /** Events that those will never see whose watch the server ended, for being slow. */
  let lost = 0;
  const looker = () => {
    let left = writes;
    const seen = (name: string) => {
      const start = began.get(name);
      if (start === undefined) return;
      latencies.push(performance.now() - start);
      left--;
    };
    const ended = () => {
      lost += left;
    };
    return wordsOf(names, seen, ended);
  };
  const run = `w${process.hrtime.bigint()}`;
  const names = new RegExp(`"name":"(${run}-\\d+)"`, 'g');
  for (let i = 0; i < watchers; i++) {
    const request = `GET ${path}${metadata.resourceVersion ?? ''} HTTP/1.1\r\n${wire.headers}\r\n`;
    wire.stream(i, request, i % oneIn === 0 ? looker() : () => {});
  }
  await sleep(3000);
  const before = await processorSeconds(peer);
  const since = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let i = 0; i < writes; i++) {
    await sleep(Math.max(0, since + (i * 1000) / perSecond - performance.now()));
    const name = `${run}-${i}`;
    began.set(name, performance.now());
    pending.push(client.create(configMaps, configMap(name)));
  }
  await Promise.all(pending);
  const looking = Math.ceil(watchers / oneIn);
  const deadline = performance.now() + 120_000;
  while (latencies.length + lost < writes * looking) {
    if (performance.now() > deadline)
      throw new Error(`${peer.name}: ${latencies.length} of ${writes * looking} events came`);
    await sleep(20);
  }
  const used = (await processorSeconds(peer)) - before;
  wire.close();
  close();
  return {
    p99: percentile(latencies, 99),
    microsPerEvent: (used * 1e6) / (writes * watchers),
    lost: lost / (writes * looking),
  };
}

/** Finds names in a stream of bytes, those that two chunks share too, and its end. */
function wordsOf(names: RegExp, seen: (name: string) => void, ended: () => void): (bytes: Buffer) => void {
  let rest = '';
  return (bytes) => {
    const text = rest + bytes.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(names)) {
      seen(match[1] ?? '');
      end = match.index + match[0].length;
    }
    rest = text.slice(Math.max(end, text.length - 100));
    if (text.endsWith('\r\n0\r\n\r\n')) ended();
  };
}
