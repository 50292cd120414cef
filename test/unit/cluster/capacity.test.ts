import { expect, test } from 'vitest';
import { whyNotReady } from '../../../cluster/capacity.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';

test.each([
  ['nothing was heard of it', [], 'its syncer has not reported'],
  [
    'it answers, and shows all',
    [
      ['Ready', 'True'],
      ['Readable', 'True'],
    ],
    '',
  ],
  ['an older syncer does not tell', [['Ready', 'True']], ''],
  [
    'it does not answer',
    [
      ['Ready', 'False'],
      ['Readable', 'False'],
    ],
    'Ready is False',
  ],
  [
    'it answers, and does not show all',
    [
      ['Ready', 'True'],
      ['Readable', 'False'],
    ],
    'Readable is False',
  ],
])('why a cluster is not as it should be: %s', (_, found, why) => {
  const conditions = found.map(([type, status]) => ({ type, status, message: `${type} is ${status}` }));
  const status = conditions.length > 0 ? { conditions } : {};
  expect(whyNotReady({ metadata: { name: 'a' }, status } as PhysicalCluster)).toBe(why);
});
