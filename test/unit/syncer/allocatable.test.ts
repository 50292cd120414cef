import { beforeEach, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Offered } from '../../../syncer/allocatable.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;

let cache: Cache<KubeObject>;
let hasSynced: boolean;
/** How often somebody went through all nodes. */
let looks: number;
let offered: Offered;

beforeEach(() => {
  cache = new Cache((error) => {
    throw error;
  });
  [hasSynced, looks] = [true, 0];
  offered = new Offered({
    get hasSynced() {
      return hasSynced;
    },
    values() {
      looks++;
      return cache.values();
    },
    on: (handlers) => cache.on(handlers),
  });
});

let version = 0;

function node(
  name: string,
  cpu: string,
  status = 'True',
  lastTransitionTime = '2026-01-01T00:00:00Z',
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, resourceVersion: `${++version}` },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status, lastTransitionTime }] },
  };
}

test('what nodes offer is summed up once, however often it is asked for', () => {
  cache.put(node('a', '2'));
  cache.put(node('b', '3'));
  expect(offered.at(noon)).toEqual({ cpu: '5' });
  const before = looks;
  for (let beat = 1; beat < 100; beat++) expect(offered.at(noon + beat * minute)).toEqual({ cpu: '5' });
  expect(looks).toBe(before);
});

test('nothing is known before the nodes are', () => {
  hasSynced = false;
  expect(offered.at(noon)).toBeUndefined();
  hasSynced = true;
  expect(offered.at(noon)).toEqual({});
});

test('one that comes, changes or goes counts at once', () => {
  cache.put(node('a', '2'));
  expect(offered.at(noon)).toEqual({ cpu: '2' });
  cache.put(node('b', '3'));
  expect(offered.at(noon)).toEqual({ cpu: '5' });
  cache.put(node('b', '4'));
  expect(offered.at(noon)).toEqual({ cpu: '6' });
  cache.remove(node('a', '2'));
  expect(offered.at(noon)).toEqual({ cpu: '4' });
  cache.replace([]);
  expect(offered.at(noon)).toEqual({});
});

test('a node that is not Ready offers nothing five minutes later, though nothing is told of it', () => {
  cache.put(node('a', '2'));
  cache.put(node('b', '3', 'Unknown', '2026-01-01T11:58:00Z'));
  cache.put(node('c', '4', 'False', '2026-01-01T11:59:00Z'));
  expect(offered.at(noon)).toEqual({ cpu: '9' });
  expect(offered.at(noon + 3 * minute - 1)).toEqual({ cpu: '9' });
  expect(offered.at(noon + 3 * minute)).toEqual({ cpu: '6' });
  expect(offered.at(noon + 4 * minute)).toEqual({ cpu: '2' });
});

test('where the clock was set back it is summed up anew', () => {
  cache.put(node('a', '3', 'False', '2026-01-01T11:59:00Z'));
  expect(offered.at(noon + 10 * minute)).toEqual({ cpu: '0' });
  expect(offered.at(noon)).toEqual({ cpu: '3' });
});
