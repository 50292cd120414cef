import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { type Informer, startInformer } from '../../../client/informer.ts';
import type { Clock } from '../../../kube/clock.ts';
import { eventually } from '../../eventually.ts';
import { bookmark, configMap, event, failure, list, scripted, watch, watchBytes } from './scripted.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
let stop: AbortController;

beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

function follow(script: Parameters<typeof scripted>, options: { idleMs?: number } = {}) {
  const { transport, urls } = scripted(...script);
  const informer = startInformer(new Client(transport), configMaps, { signal: stop.signal, ...options });
  const log: string[] = [];
  const note = (what: string) => (object: { metadata: { name?: string; resourceVersion?: string } }) => {
    log.push(`${what} ${object.metadata.name}@${object.metadata.resourceVersion}`);
  };
  informer.on({ add: note('add'), update: note('update'), delete: note('delete') });
  return { informer, log, urls };
}

const keys = (informer: Informer) => [...informer.keys()].sort();

test('lists, then watches from the list on', async () => {
  const changes = [event('MODIFIED', configMap('a', '12')), event('ADDED', configMap('b', '13'))];
  const { informer, log, urls } = follow([list('10', configMap('a', '5')), watch(changes, true)]);
  await informer.synced;
  await eventually(() => expect(log).toEqual(['add a@5', 'update a@12', 'add b@13']));
  expect(urls[1]).toContain('resourceVersion=10');
  expect(urls[1]).toContain('allowWatchBookmarks=true');
  expect(informer.get('root/x/b')?.metadata.resourceVersion).toBe('13');
});

test('goes on from the last event, or the last bookmark, when a watch ends', async () => {
  const { log, urls } = follow([
    list('10'),
    watch([event('ADDED', configMap('a', '11')), bookmark('20')]),
    watch([event('DELETED', configMap('a', '21'))]),
    watch([], true),
  ]);
  await eventually(() => expect(urls).toHaveLength(4));
  expect(log).toEqual(['add a@11', 'delete a@21']);
  expect(urls[2]).toContain('resourceVersion=20');
  expect(urls[3]).toContain('resourceVersion=21');
});

test.each([
  ['as an event', watch([event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'old' })])],
  ['as an answer', failure(410, 'Expired')],
  ['as a revision from the future', failure(504, 'Timeout')],
])('lists again on a lost revision told %s, and tells only what changed', async (_how, lost) => {
  const { informer, log, urls } = follow([
    list('10', configMap('kept', '1'), configMap('changed', '2'), configMap('gone', '3')),
    lost,
    list('30', configMap('kept', '1'), configMap('changed', '25'), configMap('new', '26')),
    watch([], true),
  ]);
  await eventually(() => expect(urls).toHaveLength(4));
  expect(log.slice(3).sort()).toEqual(['add new@26', 'delete gone@3', 'update changed@25']);
  expect(keys(informer)).toEqual(['root/x/changed', 'root/x/kept', 'root/x/new']);
  expect(urls[3]).toContain('resourceVersion=30');
});

test.each([
  ['a busy server', failure(500, 'InternalError')],
  ['a lost connection', () => Promise.reject(new Error('reset'))],
])('does not list again after %s', async (_what, broken) => {
  const { urls } = follow([list('10'), broken, watch([], true)]);
  await eventually(() => expect(urls).toHaveLength(3));
  expect(urls[2]).toContain('watch=true');
  expect(urls[2]).toContain('resourceVersion=10');
});

/** Waits for nothing, and keeps for how long it should have. */
function impatient() {
  const delays: number[] = [];
  const clock: Clock = {
    now: Date.now,
    after(ms, run) {
      // What is idle is so for two minutes.
      if (ms > 60_000) return () => {};
      delays.push(ms);
      queueMicrotask(run);
      return () => {};
    },
  };
  return { delays, clock };
}

test.each([
  ['a lost revision after an outage soon', failure(410, 'Expired'), 100],
  ['a revision from the future soon', failure(504, 'Timeout'), 100],
  ['a server that is still busy late', failure(500, 'InternalError'), 30_000],
])('waits as long as there is a reason to: %s', async (_what, answer, most) => {
  const lost = () => Promise.reject(new Error('refused'));
  const outage = Array.from({ length: 12 }, () => lost);
  const { transport, urls } = scripted(list('10'), ...outage, answer, list('30'), watch([], true));
  const { delays, clock } = impatient();
  startInformer(new Client(transport), configMaps, { signal: stop.signal, clock });
  await eventually(() => expect(urls.length).toBeGreaterThan(14));
  expect(delays[11]).toBeGreaterThanOrEqual(15_000);
  expect(delays[12]).toBeLessThanOrEqual(most);
  expect(delays[12]).toBeGreaterThanOrEqual(most / 2);
});

test('lists that are answered, and lost again at once, are read less and less often', async () => {
  const pairs = Array.from({ length: 12 }, (_, i) => [list(String(i)), failure(410, 'Expired')]).flat();
  const { transport, urls } = scripted(...pairs, list('30'), watch([], true));
  const { delays, clock } = impatient();
  startInformer(new Client(transport), configMaps, { signal: stop.signal, clock });
  await eventually(() => expect(urls.length).toBeGreaterThan(25));
  expect(delays[11]).toBeGreaterThanOrEqual(15_000);
});

test('one made again under the same name is a deletion and a creation', async () => {
  const again = configMap('a', '40', { uid: 'another' });
  const { log } = follow([
    list('10', configMap('a', '5')),
    failure(410, 'Expired'),
    list('50', again),
    watch([], true),
  ]);
  await eventually(() => expect(log).toEqual(['add a@5', 'delete a@5', 'add a@40']));
});

test('events that come twice are told once', async () => {
  const twice = [event('ADDED', configMap('a', '11')), event('ADDED', configMap('a', '11')), bookmark('12')];
  const { log, urls } = follow([list('10'), watch(twice), watch([], true)]);
  await eventually(() => expect(urls).toHaveLength(3));
  expect(log).toEqual(['add a@11']);
});

test('chunks may end anywhere, also inside a character; half an event is none', async () => {
  const whole = JSON.stringify(event('ADDED', configMap('a', '11', { labels: { l: 'é漢🙂' } })));
  const bytes = Buffer.from(`${whole}\n${whole.slice(0, 40)}`);
  const single = [...bytes].map((_byte, i) => bytes.subarray(i, i + 1));
  const { informer, log, urls } = follow([list('10'), watchBytes(single), watch([], true)]);
  await eventually(() => expect(urls).toHaveLength(3));
  expect(log).toEqual(['add a@11']);
  expect(informer.get('root/x/a')?.metadata.labels).toEqual({ l: 'é漢🙂' });
  expect(urls[2]).toContain('resourceVersion=11');
});

test('a silent watch is made anew', async () => {
  const { urls } = follow([list('10'), watch([], true), watch([], true)], { idleMs: 20 });
  await eventually(() => expect(urls.length).toBeGreaterThanOrEqual(3));
  expect(urls[2]).toContain('resourceVersion=10');
});

test('objects of several logical clusters do not meet; indexes follow', async () => {
  const inCluster = (cluster: string, rv: string) =>
    configMap('a', rv, { uid: cluster, annotations: { 'kcp.io/cluster': cluster } });
  const { informer, urls } = follow([
    list('10', inCluster('root', '1'), inCluster('root:t', '2')),
    watch([event('DELETED', inCluster('root', '11'))]),
    watch([], true),
  ]);
  informer.addIndex('namespace', (object) => [object.metadata.namespace ?? '']);
  await eventually(() => expect(urls).toHaveLength(3));
  expect(keys(informer)).toEqual(['root:t/x/a']);
  expect(informer.byIndex('namespace', 'x').map(({ metadata }) => metadata.uid)).toEqual(['root:t']);
  expect(informer.byIndex('namespace', 'y')).toEqual([]);
  expect(['x', 'y'].map((value) => informer.hasIndexed('namespace', value))).toEqual([true, false]);
});

test('managed fields are not kept; a failing handler harms nobody; late handlers see what is there', async () => {
  const { informer, log } = follow([
    list('10', configMap('a', '1', { managedFields: [{ manager: 'm' }] })),
    watch([], true),
  ]);
  informer.on({
    add() {
      throw new Error('boom');
    },
  });
  await informer.synced;
  expect(log).toEqual(['add a@1']);
  expect(informer.get('root/x/a')?.metadata.managedFields).toBeUndefined();
  const late: string[] = [];
  const off = informer.on({ add: (_object, key) => late.push(key) });
  expect(late).toEqual(['root/x/a']);
  off();
});

test('stops: synced rejects if it never was, the work ends', async () => {
  const { informer } = follow([]);
  stop.abort(new Error('enough'));
  await expect(informer.synced).rejects.toThrow('enough');
  await informer.stopped;
  expect(informer.hasSynced).toBe(false);
});
