import { expect, it } from 'vitest';
import { objection } from '../../../scheduler/filter.ts';
import { nothingUsed } from '../../../scheduler/usage.ts';
import { cluster } from './world.ts';

const kind = 'sets.example.com/v1';

it.each<[string[] | undefined, string | undefined]>([
  [undefined, `it does not serve ${kind}`],
  [['others.example.com/v1'], `it does not serve ${kind}`],
  [['others.example.com/v1', '*'], undefined],
  [[kind], undefined],
])('where a cluster says that it serves %j of a custom resource: %s', (serves, expected) => {
  const east = cluster('east');
  const there = { ...east, status: { ...east.status, ...(serves && { serves }) } };
  const none = { need: nothingUsed, used: nothingUsed };
  expect(objection({ name: 'east', cluster: there, now: 0, isThere: false, kind, ...none })).toBe(expected);
});
