import { expect, test } from 'vitest';
import { shownLimit, whyNotReady } from '../../../cluster/capacity.ts';
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

test('one whose present kubeconfig does not work says so while it answers', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'FormerKubeconfig', message: 'by that of before' };
  expect(whyNotReady({ metadata: { name: 'a' }, status: { conditions: [ready] } } as PhysicalCluster)).toBe(
    'by that of before',
  );
});

test('what keeps a cluster that is being removed is told', () => {
  const metadata = { name: 'a', deletionTimestamp: '1970-01-01T00:00:00Z' };
  const conditions = ['Ready', 'Empty'].map((type, i) => ({
    type,
    status: i === 0 ? 'True' : 'False',
    message: 'it still has web',
  }));
  const why = (known: number) =>
    whyNotReady({ metadata, status: { conditions: conditions.slice(0, known) } } as PhysicalCluster);
  expect(why(1)).toBe('it is being removed');
  expect(why(2)).toBe('it is being removed: it still has web');
});

test.each<[string, object, string]>([
  ['nobody knows', {}, '<unknown>'],
  ['it has no nodes', { status: { allocatable: {} } }, '0'],
  ['it has none, and a bound', { spec: { capacity: { cpu: '4' } }, status: { allocatable: {} } }, '0'],
  ['its nodes offer it', { status: { allocatable: { cpu: '96' } } }, '96'],
  [
    'a bound is less',
    { spec: { capacity: { cpu: '4' } }, status: { allocatable: { cpu: '96' } } },
    '4 of 96',
  ],
])('what a cluster offers, where %s', (_, fields, shown) => {
  expect(shownLimit({ metadata: { name: 'a' }, ...fields } as PhysicalCluster, 'cpu')).toBe(shown);
});
