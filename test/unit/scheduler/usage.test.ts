import { expect, test } from 'vitest';
import type { Placement, Share } from '../../../cluster/types.ts';
import { usageOf } from '../../../scheduler/usage.ts';
import { deployment } from '../cluster/objects.ts';

const { object } = deployment('web', { replicas: 5 });
const share = (replicas: number, phase: Share['phase'] = 'Active'): Share => ({ phase, replicas });

test('what has ended takes nothing', () => {
  const job = (conditions: object[]) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once' },
    spec: { parallelism: 2, template: object['spec'] },
    status: { conditions },
  });
  const placement = { spec: { clusters: ['a'], shares: { a: { phase: 'Active' } } } } as unknown as Placement;
  const pods = (conditions: object[]) => usageOf(job(conditions), placement).get('a')?.get('pods')?.value;
  expect(pods([])).toBe(2n);
  expect(pods([{ type: 'Complete', status: 'True' }])).toBeUndefined();
});

test.each<[string, string[], Record<string, Share>, Record<string, string>]>([
  ['before it is divided: the same everywhere', ['a', 'b'], {}, { a: '3', b: '3' }],
  ['what each has', ['a', 'b'], { a: share(4), b: share(1) }, { a: '4', b: '1' }],
  ['one that joins, too, before it has a share', ['a', 'b'], { a: share(5) }, { a: '5', b: '3' }],
  ['one that leaves, until it has left', ['b'], { a: share(5, 'Leaving'), b: share(5) }, { a: '5', b: '5' }],
  ['nowhere', [], {}, {}],
])('%s', (_, clusters, shares, expected) => {
  const placement = { spec: { clusters, shares } } as unknown as Placement;
  const pods = [...usageOf(object, placement)].map(([c, needs]) => [c, String(needs.get('pods')?.value)]);
  expect(Object.fromEntries(pods)).toEqual(expected);
});
