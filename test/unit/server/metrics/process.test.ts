import { expect, test } from 'vitest';
import { ProcessMetrics } from '../../../../server/metrics/process.ts';

test('each family of a process is told once, its lag among them, whose worth is no interval between two looks', async () => {
  const families = await new ProcessMetrics().families();
  const names = families.map(({ definition }) => definition.name);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  const lag = families.find(({ definition }) => definition.name === 'nodejs_eventloop_lag_p99_seconds');
  expect(lag?.definition.merge).toBe('max');
  expect(lag?.figures).toEqual([{ labels: [], value: 0 }]);
});
