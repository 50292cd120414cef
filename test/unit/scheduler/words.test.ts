import { expect, it } from 'vitest';
import type { PlacedSpread } from '../../../cluster/spread.ts';
import type { PlacementSpec } from '../../../cluster/types.ts';
import { wordsOf } from '../../../scheduler/words.ts';

const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: '1',
};
const spec = (values: Record<string, string>, spread: Partial<PlacedSpread> = {}): PlacementSpec => ({
  ref,
  clusters: Object.keys(values),
  spread: { topologyKey: 'region', replicas: { us: 3, eu: 2 }, ...spread, values },
});
const both = { east: 'us', north: 'eu' };
const warning = (message: string) => ({ type: 'Warning', reason: 'SpreadUnsatisfied', message });
const missing = warning('no cluster of region eu takes it: its replicas are in us until one does');

it.each<[string, PlacementSpec | undefined, PlacementSpec, object[]]>([
  ['at first', undefined, spec({ east: 'us' }), [missing]],
  ['when one falls out', spec(both), spec({ east: 'us' }), [missing]],
  ['once', spec({ east: 'us' }), spec({ west: 'us' }), []],
  ['when another is missing', spec({ east: 'us' }), spec({ north: 'eu' }), [expect.anything()]],
  ['not when none is', spec({ east: 'us' }), spec(both), []],
  ['not where nobody says how many', spec(both), spec({ east: 'us' }, { replicas: {} }), []],
])('a spread that cannot be had is told: %s', (_, before, now, expected) => {
  expect(wordsOf(before, now).filter(({ reason }) => reason === 'SpreadUnsatisfied')).toEqual(expected);
});
