import { expect, test } from 'vitest';
import { Departures } from '../../../../apiserver/view/departures.ts';

test('what left a cluster after a revision is known, and nothing is said of what came before it began', () => {
  const departures = new Departures();
  departures.begin(10);
  departures.note({ cluster: 'east', key: '/a', revision: 11 });
  departures.note({ cluster: 'west', key: '/b', revision: 12 });
  departures.note({ cluster: 'east', key: '/c', revision: 13 });
  expect(departures.since('east', 10)).toEqual(['/a', '/c']);
  expect(departures.since('east', 11)).toEqual(['/c']);
  expect(departures.since('west', 12)).toEqual([]);
  expect(departures.since('east', 9)).toBeUndefined();
});

test('of very many the oldest are forgotten, and it is known that they are', () => {
  const departures = new Departures();
  for (let revision = 1; revision <= 8193; revision++)
    departures.note({ cluster: 'east', key: `/${revision}`, revision });
  expect(departures.since('east', 4095)).toBeUndefined();
  expect(departures.since('east', 4096)).toHaveLength(8193 - 4096);
});
