import { expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import type { simulateApart } from '../../../sim/apart.ts';

/** It starts a program, which is there once it is built. */
const built = new URL('../../../dist/sim/apart.js', import.meta.url).href;

test('a simulator that hangs is not waited for without end', async () => {
  const apart = (await import(built)) as { simulateApart: typeof simulateApart };
  let pid = 0;
  const info = (values: object) => {
    pid = 'pid' in values ? Number(values.pid) : pid;
  };
  const simulation = await apart.simulateApart([{ name: 'east', nodes: 1, seed: 1 }], {
    ...silentLogger,
    info,
  });
  expect(pid).toBeGreaterThan(0);
  process.kill(pid, 'SIGSTOP');
  await simulation.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
