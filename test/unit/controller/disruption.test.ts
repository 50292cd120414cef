import { expect, test } from 'vitest';
import { type Budget, statusOfNoPods } from '../../../controller/disruption/decide.ts';

const budget = (spec: object, status?: Budget['status']): Budget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', generation: 2 },
  spec: spec as Record<string, unknown>,
  ...(status && { status }),
});
const condition = (status: string, since: string) => ({
  type: 'DisruptionAllowed',
  status,
  lastTransitionTime: since,
});

test.each([
  ['a number stays what it is', { minAvailable: 3 }, 3],
  ['a percentage of nothing is nothing', { minAvailable: '30%' }, 0],
  ['what may be away is not what must be there', { maxUnavailable: 1 }, 0],
])('of no pods: %s', (_, spec, desiredHealthy) => {
  const status = statusOfNoPods(budget(spec), 'now');
  expect(status).toMatchObject({
    observedGeneration: 2,
    disruptionsAllowed: 0,
    currentHealthy: 0,
    expectedPods: 0,
    desiredHealthy,
    conditions: [{ ...condition('False', 'now'), reason: 'InsufficientPods', observedGeneration: 2 }],
  });
  expect(statusOfNoPods(budget(spec, status), 'later')).toBeUndefined();
});

test.each([
  ['it had pods before', condition('True', 'then'), 'now'],
  ['it had none before', condition('False', 'then'), 'then'],
])('since when: %s', (_, before, since) => {
  const other = { type: 'Other', status: 'True' };
  const status = statusOfNoPods(budget({}, { observedGeneration: 1, conditions: [other, before] }), 'now');
  expect(status?.conditions).toMatchObject([other, { lastTransitionTime: since }]);
});
