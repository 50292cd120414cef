import { expect, test } from 'vitest';
import { objectMatters } from '../../../scheduler/matters.ts';
import { isRolledOut } from '../../../scheduler/rollout.ts';

const workload = (kind: string, status: object = {}, generation = 2) => ({
  kind,
  apiVersion: kind === 'CronJob' ? 'batch/v1' : 'apps/v1',
  metadata: { name: 'web', generation },
  status,
});
const seen = { observedGeneration: 2 };
const job = { kind: 'Job', name: 'web-1' };

test.each<[boolean, string, object]>([
  [true, 'Deployment', { ...seen, replicas: 2, updatedReplicas: 2 }],
  [false, 'Deployment', { ...seen, replicas: 3, updatedReplicas: 2 }],
  [false, 'Deployment', { observedGeneration: 1, replicas: 2, updatedReplicas: 2 }],
  [true, 'Deployment', seen],
  [false, 'StatefulSet', { ...seen, replicas: 2 }],
  [false, 'DaemonSet', { ...seen, currentNumberScheduled: 2, updatedNumberScheduled: 1 }],
  [true, 'CronJob', {}],
  [false, 'CronJob', { active: [job] }],
  [true, 'Job', { active: 1 }],
])('%s: %s %j', (expected, kind, status) => {
  expect(isRolledOut(workload(kind, status))).toBe(expected);
});

test('that the last run of a former template has ended matters, where there was one', () => {
  const [busy, idle] = [{ active: [job] }, {}].map((status) => workload('CronJob', status));
  expect(objectMatters(idle!, busy!)).toBe(true);
  expect(objectMatters(busy!, idle!)).toBe(false);
  expect(objectMatters(workload('CronJob', {}, 1), workload('CronJob', { active: [job] }, 1))).toBe(false);
});
