import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { JoinedPlacements, startPlacementInformer } from '../../../client/placements.ts';
import { newSlice, type PlacementSlice } from '../../../cluster/slices.ts';
import type { ClusterSlice, Placement, SharePhase } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { eventually } from '../../eventually.ts';
import { event, list, scripted, watch } from './scripted.ts';

const key = 'team/x/web';
const annotations = { 'kcp.io/cluster': 'team' };
const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'w',
  uid: 'u',
};
const there: ClusterSlice = { present: true };
const gone: ClusterSlice = { present: false };

function placement(resourceVersion: string, shares: Record<string, SharePhase>, uid = 'first'): Placement {
  const all = Object.entries(shares).map(([cluster, phase]) => [cluster, { phase }] as const);
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web', namespace: 'x', uid, resourceVersion, annotations },
    spec: { ref, clusters: Object.keys(shares), shares: Object.fromEntries(all) },
    status: { conditions: [] },
  };
}

/** As said while the Placement was as given. */
function slice(
  resourceVersion: string,
  cluster: string,
  status: ClusterSlice,
  of: Placement = placement('0', { [cluster]: 'Active' }),
): PlacementSlice {
  const made = newSlice(of, cluster, status);
  return { ...made, metadata: { ...made.metadata, resourceVersion, annotations } };
}

type Step = ['put' | 'remove', KubeObject] | ['replace', ...KubeObject[]];

function played(steps: readonly Step[]) {
  const joined = new JoinedPlacements((error) => expect.fail(String(error)));
  const told: string[] = [];
  const strays: string[] = [];
  const words = (p: Placement) =>
    `${p.metadata.resourceVersion} ${Object.entries(p.status?.clusters ?? {})
      .map(([c, { present }]) => `${c}=${present}`)
      .join()}`;
  joined.cache.on({
    add: (now) => told.push(`add ${words(now)}`),
    update: (now, old) => told.push(`update ${words(old)} > ${words(now)}`),
    delete: (last) => told.push(`delete ${words(last)}`),
  });
  joined.onStray((of) => strays.push(`${of} ${[...joined.said(of).keys()].join()}`));
  for (const [what, ...objects] of steps) {
    if (what === 'replace') joined.replace(objects as KubeObject[]);
    else joined[what](objects[0] as KubeObject);
  }
  return { joined, told, strays };
}

const active = placement('1', { east: 'Active', west: 'Active' });
const leaving = placement('9', { east: 'Leaving' });

test.each<[string, Step[], string[]]>([
  [
    'a word changes one entry, under the revision of the Placement',
    [
      ['put', active],
      ['put', slice('2', 'east', there)],
      ['put', slice('3', 'west', there)],
      ['put', slice('4', 'east', gone)],
      ['remove', slice('5', 'east', gone)],
    ],
    [
      'add 1 ',
      'update 1  > 1 east=true',
      'update 1 east=true > 1 east=true,west=true',
      'update 1 east=true,west=true > 1 east=false,west=true',
      'update 1 east=false,west=true > 1 west=true',
    ],
  ],
  [
    'a Placement keeps what was said of it',
    [
      ['put', active],
      ['put', slice('2', 'east', there)],
      ['put', placement('3', { east: 'Active' })],
    ],
    ['add 1 ', 'update 1  > 1 east=true', 'update 1 east=true > 3 east=true'],
  ],
  [
    'what was seen already is told to nobody',
    [
      ['put', active],
      ['put', slice('2', 'east', there)],
      ['put', slice('2', 'east', there)],
      ['put', active],
      ['remove', slice('3', 'west', there)],
    ],
    ['add 1 ', 'update 1  > 1 east=true'],
  ],
  [
    'a list is told as what it changes, whole',
    [
      ['put', active],
      ['put', slice('2', 'east', there)],
      ['replace', slice('4', 'west', there), slice('2', 'east', there), active],
      ['replace', active, slice('2', 'east', there), slice('4', 'west', there)],
      ['replace', placement('7', { east: 'Active' }), slice('8', 'east', gone)],
      ['replace'],
    ],
    [
      'add 1 ',
      'update 1  > 1 east=true',
      'update 1 east=true > 1 west=true,east=true',
      'update 1 west=true,east=true > 7 east=false',
      'delete 7 east=false',
    ],
  ],
  [
    'that it is absent, said before it was told to leave, is not said of what leaves',
    [
      ['put', placement('1', { east: 'Joining' })],
      ['put', slice('2', 'east', gone)],
      ['put', leaving],
      ['put', slice('10', 'east', gone, leaving)],
    ],
    ['add 1 ', 'update 1  > 1 east=false', 'update 1 east=false > 9 ', 'update 9  > 9 east=false'],
  ],
  [
    'that it is still there is, whenever it was said',
    [
      ['put', placement('1', { east: 'Joining' })],
      ['put', slice('2', 'east', there)],
      ['put', leaving],
    ],
    ['add 1 ', 'update 1  > 1 east=true', 'update 1 east=true > 9 east=true'],
  ],
  [
    'one that is gone takes along what was shown, and one made anew has nothing of it',
    [
      ['put', active],
      ['put', slice('2', 'east', there)],
      ['remove', { ...active, metadata: { ...active.metadata, resourceVersion: '3' } }],
      ['put', placement('4', { east: 'Joining' }, 'second')],
      ['put', slice('5', 'east', there, placement('4', { east: 'Joining' }, 'second'))],
    ],
    ['add 1 ', 'update 1  > 1 east=true', 'delete 3 east=true', 'add 4 ', 'update 4  > 4 east=true'],
  ],
  [
    'what was said of nothing is told to nobody',
    [
      ['put', slice('2', 'east', there)],
      ['remove', slice('3', 'east', there)],
    ],
    [],
  ],
])('%s', (_what, steps, told) => {
  expect(played(steps).told).toEqual(told);
});

test('what is left over is found: when its Placement goes, is made anew, or was gone before', () => {
  const again = placement('4', { east: 'Joining' }, 'second');
  const { joined, strays } = played([
    ['put', active],
    ['put', slice('2', 'east', there)],
    ['remove', active],
    ['put', again],
    ['put', slice('5', 'east', there, again)],
    ['put', slice('6', 'west', there)],
  ]);
  expect(strays).toEqual([`${key} east`, `${key} east`, `${key} east,west`]);
  const late: string[] = [];
  joined.onStray((of) => late.push(of));
  expect(late).toEqual([key]);
  const fresh = new JoinedPlacements((error) => expect.fail(String(error)));
  fresh.onStray((of) => late.push(`fresh ${of}`));
  fresh.replace([slice('2', 'east', there)]);
  expect(late).toEqual([key, `fresh ${key}`]);
});

test('what was read at one moment stays as it was read', () => {
  const { joined } = played([
    ['put', active],
    ['put', slice('2', 'east', there)],
  ]);
  const before = joined.said(key);
  joined.put(slice('3', 'east', gone));
  joined.put(slice('4', 'west', there));
  expect([...before.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(['2']);
  expect([...joined.said(key).keys()]).toEqual(['east', 'west']);
});

test('an informer reads both in one list and one watch, and goes on after whichever came last', async () => {
  const stop = new AbortController();
  const { transport, urls } = scripted(
    list('5', slice('2', 'east', there), active),
    watch([event('MODIFIED', slice('7', 'west', there))]),
    watch([event('DELETED', slice('9', 'east', there))], true),
  );
  const client = new Client(transport, { cluster: '*' });
  const informer = startPlacementInformer(client, { signal: stop.signal });
  await informer.synced;
  await eventually(() => expect([...informer.said(key).keys()]).toEqual(['west']));
  expect(informer.get(key)?.status?.clusters).toEqual({ west: there });
  expect(urls.map((url) => new URL(url, 'http://x').searchParams.get('slices'))).toEqual(
    ['apart', 'apart', 'apart'].slice(0, urls.length),
  );
  expect(urls[2]).toContain('resourceVersion=7');
  stop.abort();
  await informer.stopped;
});
