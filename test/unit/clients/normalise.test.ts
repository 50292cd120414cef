import { expect, test } from 'vitest';
import { normalise } from '../../clients/normalise.ts';

test('what only Atoll says of where workloads are is left out, and nothing else', () => {
  const ours = [
    '0',
    'NAME   READY   SELECTOR   CLUSTERS',
    'web    1/1     app=web    east=2,west=1',
    'api    0/0     <none>     <none>',
    '',
    'NAME   A',
    'x      y',
    '--- stderr',
    'Warning: plan: shop/deployments.apps/web moves from east to west',
    '',
  ];
  const theirs = [
    '0',
    'NAME   READY   SELECTOR',
    'web    1/1     app=web',
    'api    0/0     <none>',
    '',
    'NAME   A',
    'x      y',
    '',
  ];
  expect(normalise(ours.join('\n'))).toBe(normalise(theirs.join('\n')));
  expect(normalise(theirs.join('\n'))).toContain('x  y');
});
