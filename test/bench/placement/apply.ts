import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureApplyToPresent } from '../apply.ts';
import { beside, makeNamespace, startStage } from './stage.ts';

/** From an acknowledged apply to the object's presence on a physical cluster, while so many come each second, and in a burst. */
export async function apply(): Promise<void> {
  const stage = await startStage({ prefix: 'c', count: 2, takes: true });
  const folder = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  try {
    const physical = join(folder, 'physical.kubeconfig');
    await writeFile(physical, stage.clusters.all[0]?.kubeconfig ?? '', { mode: 0o600 });
    const namespaces = Array.from({ length: 20 }, (_, i) => `bench-${i}`);
    for (const name of [...namespaces, 'burst']) await makeNamespace(stage.client, name, 'c-0');
    const measure = (count: number, perSecond?: number) => {
      const paced = perSecond === undefined ? { namespaces: ['burst'] } : { namespaces, perSecond };
      return measureApplyToPresent(stage.atoll.kubeconfig, physical, { count, ...paced });
    };
    // Nothing is compiled yet.
    await measure(150, 30);
    const name = 'apply to present on a physical cluster';
    for (const [perSecond, goal] of [
      [1, '<= 60'],
      [20, '<= 60'],
      [100, '<= 100'],
    ] as const) {
      const { p50, p99 } = await measure(perSecond * 20, perSecond);
      beside(`${name}, ${perSecond} a second: p50 ms`, p50.toFixed(0), '-');
      beside(`${name}, ${perSecond} a second: p99 ms`, p99.toFixed(0), goal);
    }
    const bursts = [];
    for (let i = 0; i < 5; i++) bursts.push((await measure(101 + i)).seconds * 1000);
    bursts.sort((a, b) => a - b);
    beside(
      `${name}, about 100 at once: all present after, median of 5, ms`,
      bursts[2]?.toFixed(0) ?? '',
      '<= 300',
    );
  } finally {
    await stage.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
