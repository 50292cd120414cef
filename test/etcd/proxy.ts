import { connect, createServer, type Socket } from 'node:net';

export interface FaultyProxy {
  /** `host:port` to connect to instead. */
  endpoint: string;
  /** Bytes stop in both directions, connections stay open, new ones get no answer: a partition. */
  hole(): void;
  /** What was held back goes on. */
  resume(): void;
  /** Lets requests through, cuts the connection before any answer: outcomes nobody hears of. */
  swallowAnswers(): void;
  /** Every byte arrives so many milliseconds later, in both directions, also on connections that are there. */
  delay(ms: number): void;
  /** Closes every connection; new ones are served again. */
  cut(): void;
  stop(): Promise<void>;
}

/** A TCP proxy in front of a port on loopback, for faults of the network. */
export async function startProxy(target: number): Promise<FaultyProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let held = false;
  let swallow = false;
  let late = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    forward(
      client,
      upstream,
      () => false,
      () => late,
    );
    forward(
      upstream,
      client,
      () => swallow,
      () => late,
    );
    for (const socket of pair) {
      socket.setNoDelay(true);
      if (held) socket.pause();
      socket.on('error', () => {});
      socket.on('close', () => {
        // A partition hides the end of a connection too, until that is cut.
        if (held) return;
        pairs.delete(pair);
        for (const end of pair) end.destroy();
      });
    }
  });
  const all = (): Socket[] => [...pairs].flat();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  return {
    endpoint: `127.0.0.1:${port}`,
    hole: () => {
      held = true;
      for (const socket of all()) socket.pause();
    },
    resume: () => {
      held = false;
      for (const socket of all()) socket.resume();
    },
    swallowAnswers: () => {
      swallow = true;
    },
    delay: (ms) => {
      late = ms;
    },
    cut: () => {
      swallow = false;
      for (const socket of all()) socket.destroy();
    },
    stop: async () => {
      for (const socket of all()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(from: Socket, to: Socket, swallowed: () => boolean, late: () => number): void {
  const waiting: { chunk: Buffer; at: number }[] = [];
  // One timer for all: what is under way keeps its order, also when the delay shrinks.
  const pump = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const left = next.at - performance.now();
      if (left > 0) {
        setTimeout(pump, left);
        return;
      }
      waiting.shift();
      to.write(next.chunk);
    }
  };
  from.on('data', (chunk) => {
    if (swallowed()) return;
    waiting.push({ chunk, at: performance.now() + late() });
    if (waiting.length === 1) pump();
  });
}
