import { expect, it } from 'vitest';
import { lackOfRoom, type NoRoom } from '../../../cluster/no-room.ts';
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

const full = (
  noRoom: NoRoom | undefined,
  clusters = ['a'],
  more: Partial<PlacementSpec> = {},
): PlacementSpec => ({
  ref,
  clusters,
  reasons: { a: 'it takes 6 pods' },
  ...(noRoom && { noRoom, blocked: true }),
  ...more,
});
const all = { filled: [{ cluster: 'a', pods: 6 }] };
const two: NoRoom = { pods: 2, of: 6, on: ['a'] };
const three: NoRoom = { pods: 3, of: 7, on: ['a'] };
const apart: NoRoom = { pods: 2, of: 6 };
const told = (noRoom: NoRoom, clusters = ['a']) => `NoRoom ${lackOfRoom({ noRoom, clusters })}`;
const placed = 'Placed a: it takes 6 pods';
const blocked = 'Blocked a: it takes 6 pods';

it.each<[string, PlacementSpec | undefined, PlacementSpec, string[]]>([
  ['at first', undefined, full(two), [placed, told(two)]],
  [
    'when it grows, and nothing else of it: that it is blocked is the same',
    full(undefined),
    full(two),
    [told(two)],
  ],
  ['once', full(two), full(two), []],
  ['not anew when it is more: its condition has the numbers', full(two), full(three), []],
  ['when it is elsewhere', full(two), full({ ...two, on: ['b'] }), [told({ ...two, on: ['b'] })]],
  ['when it waits nowhere any more', full(two), full(apart), [told(apart)]],
  [
    'not to the next of its name',
    full(two, ['a'], { ref: { ...ref, uid: '0' } }),
    full(two),
    [placed, told(two)],
  ],
  ['once, where it is nowhere', undefined, full(apart, []), [told(apart, [])]],
  [
    'not with each word of its neighbours',
    full(apart, [], { reasons: { a: 'it has room for 4 of its 6 pods' } }),
    full({ ...apart, pods: 3 }, [], { reasons: { a: 'it has room for 3 of its 6 pods' } }),
    [],
  ],
  ['once, where it cannot leave', full(undefined), full(apart), [told(apart)]],
  ['and when there is room again', full(two), full(undefined, ['a'], all), [placed]],
  [
    'not where what it is on takes nothing any more',
    full(two),
    full(undefined, ['a'], { ...all, blocked: true }),
    [blocked],
  ],
  ['not where nobody looks for room any more', full(two), full(undefined), []],
])('that there is no room is told: %s', (_, before, now, expected) => {
  expect(wordsOf(before, now).map(({ reason, message }) => `${reason} ${message}`)).toEqual(expected);
});

it('is told once that there is no physical cluster, and where it is placed when there is one', () => {
  const nowhere: PlacementSpec = { ref, clusters: [], reasons: {} };
  const message = 'there is no physical cluster';
  expect(wordsOf(undefined, nowhere)).toEqual([{ type: 'Warning', reason: 'Refused', message }]);
  expect(wordsOf(nowhere, { ...nowhere })).toEqual([]);
  const deleted: PlacementSpec = { ref, clusters: [], shares: { a: { phase: 'Active' } } };
  expect(wordsOf({ ...deleted, clusters: ['a'], reasons: { a: 'it has the most room' } }, deleted)).toEqual(
    [],
  );
  const there = { ...nowhere, clusters: ['a'], reasons: { a: 'it has the most room' } };
  expect(wordsOf(nowhere, there).map(({ reason }) => reason)).toEqual(['Placed']);
  expect(
    wordsOf(undefined, { ...nowhere, ref: { ...ref, group: '', resource: 'configmaps', kind: 'ConfigMap' } }),
  ).toEqual([]);
});
