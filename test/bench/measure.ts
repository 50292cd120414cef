export interface Figures {
  perSecond: number;
  p50: number;
  p99: number;
}

/** Runs `work` from `clients` callers at a time for `seconds`; it is told which caller. Latencies in milliseconds. */
export async function measure(
  clients: number,
  seconds: number,
  work: (i: number, caller: number) => Promise<unknown>,
): Promise<Figures> {
  const latencies: number[] = [];
  const end = performance.now() + seconds * 1000;
  let next = 0;
  const caller = async (_: unknown, i: number) => {
    while (performance.now() < end) {
      const started = performance.now();
      await work(next++, i);
      latencies.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: clients }, caller));
  const elapsed = (performance.now() - started) / 1000;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}
