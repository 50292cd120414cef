import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './measure.ts';
import type { Tenants } from './tenants.ts';
import type { Wire } from './wire.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);

export interface Served {
  perSecond: number;
  p50: number;
  p99: number;
}

type Ask = (wire: Wire, connection: number, i: number) => Promise<number>;

/** What one tenant's reads take, alone and while each of `writers` others writes `perSecond` times, or as fast as it can. */
export async function besideWriters(tenants: Tenants, writers: number, perSecond?: number) {
  const read: Ask = (wire, connection) => wire.send(connection, tenants.get(writers));
  const reader = await tenants.open(1);
  const pace = { connections: 1, perSecond: 100 };
  const alone = await served(reader, pace, read);
  const wire = await tenants.open(writers);
  const run = process.hrtime.bigint();
  const noise = start(wire, writers, perSecond, (i, n) => tenants.create(i, `n${run}-${n}`));
  const during = await served(reader, pace, read);
  const { answered, refused } = await noise.stop();
  reader.close();
  wire.close();
  return { alone, during, noise: answered / noise.seconds(), refused };
}

/** What `others` tenants get of what they ask for, alone and while one floods over `connections`. */
export async function besideFlood(tenants: Tenants, others: number, connections: number) {
  const read: Ask = (wire, connection) => wire.send(connection, tenants.get(1 + connection));
  const quiet = await tenants.open(others);
  const pace = { connections: others, perSecond: 100 };
  const alone = await served(quiet, pace, read);
  const wire = await tenants.open(connections);
  const flood = start(wire, connections, undefined, () => tenants.get(0));
  const during = await served(quiet, pace, read);
  const { answered, refused } = await flood.stop();
  quiet.close();
  wire.close();
  return { alone, during, noise: answered / flood.seconds(), refused };
}

/** Each connection asks so many times a second, later where the answer before is not there yet. */
async function served(
  wire: Wire,
  { connections, perSecond }: { connections: number; perSecond: number },
  ask: Ask,
): Promise<Served> {
  // What is to disturb has begun, and the server has seen that it is busy.
  await sleep(Math.min(3000, seconds * 500));
  const latencies: number[] = [];
  const from = performance.now();
  const end = from + seconds * 1000;
  const caller = async (_: unknown, connection: number) => {
    for (let i = 0; performance.now() < end; i++) {
      await sleep(Math.max(0, from + (i * 1000) / perSecond - performance.now()));
      const began = performance.now();
      const status = await ask(wire, connection, i);
      if (status >= 300) throw new Error(`a quiet tenant was answered ${status}`);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  const elapsed = (performance.now() - from) / 1000;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

/** Asks over every connection until it is stopped; 429 is counted, and asked again after a moment. */
function start(
  wire: Wire,
  connections: number,
  perSecond: number | undefined,
  request: (connection: number, i: number) => string,
) {
  const from = performance.now();
  const counts = { answered: 0, refused: 0 };
  let [stopping, elapsed] = [false, 0];
  const caller = async (_: unknown, connection: number) => {
    for (let i = 0; !stopping; i++) {
      // Not all in the same moment.
      const due = from + ((i + connection / connections) * 1000) / (perSecond ?? Number.POSITIVE_INFINITY);
      if (perSecond !== undefined) await sleep(Math.max(0, due - performance.now()));
      const status = await wire.send(connection, request(connection, i));
      if (status === 429) {
        counts.refused++;
        await sleep(100);
      } else if (status >= 300) throw new Error(`a noisy tenant was answered ${status}`);
      else counts.answered++;
    }
  };
  const all = Promise.all(Array.from({ length: connections }, caller));
  return {
    seconds: () => elapsed,
    stop: async () => {
      stopping = true;
      await all;
      elapsed = (performance.now() - from) / 1000;
      return counts;
    },
  };
}
