import { profile } from './profile.ts';
import { untilDrained } from './queues.ts';
import {
  beside,
  createDeployments,
  isSettled,
  makeNamespace,
  scaled,
  startStage,
  untilPlacements,
} from './stage.ts';

const clusters = 10;

/** A server is stopped and started again with so many Deployments, all in place on one of ten clusters. `BENCH_PROFILE` as in idle.ts. */
export async function restart(): Promise<void> {
  const count = scaled(30_000);
  const stage = await startStage({ prefix: 'c', count: clusters });
  try {
    const { client, atoll } = stage;
    for (let i = 0; i < clusters; i++) await makeNamespace(client, `ns-${i}`, `c-${i}`);
    await createDeployments(client, count, (i) => ({ name: `app-${i}`, namespace: `ns-${i % clusters}` }));
    await untilPlacements(client, 'all are settled', {
      count,
      seconds: 3600,
      everyMs: 10_000,
      is: isSettled,
    });
    await atoll.terminate();
    const from = performance.now();
    await atoll.restart();
    const ready = (performance.now() - from) / 1000;
    const profiled = profile(client, 'control', 30);
    const begun = { controllers: ['syncer-up', 'splitter'], keys: count };
    const { drained, adds } = await untilDrained(atoll.kubeconfig, { from, begun });
    await profiled;
    const name = `restart with ${count} placed workloads`;
    beside(`${name}: until it answers, s`, ready.toFixed(1), '-');
    beside(`${name}: until its queues are drained, s`, drained.toFixed(1), '<= 30');
    beside(`${name}: processor s until then`, (await stage.processor()).toFixed(1), '-');
    const most = [...adds].sort(([, a], [, b]) => b - a).slice(0, 6);
    beside(`${name}: keys by queue`, most.map(([queue, keys]) => `${queue} ${keys}`).join(', '), '-');
  } finally {
    await stage.stop();
  }
}
