import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { onDemandInformer } from '../../../client/on-demand.ts';
import { eventually } from '../../eventually.ts';
import { configMap, event, list, scripted, watch } from './scripted.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

function make(...script: Parameters<typeof scripted>) {
  const { transport, urls } = scripted(...script);
  const informer = onDemandInformer(new Client(transport), configMaps, { signal: stop.signal });
  const log: string[] = [];
  informer.on({
    add: ({ metadata }) => log.push(`add ${metadata.name}`),
    delete: ({ metadata }) => log.push(`delete ${metadata.name}`),
  });
  return { informer, urls, log };
}

test('asks for nothing, and knows nothing, before it is told to', async () => {
  const { informer, urls } = make();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([urls, informer.hasSynced, informer.isAwake]).toEqual([[], false, false]);
});

test('that rests from the beginning counts as synced, and empty', async () => {
  const { informer, urls } = make();
  informer.rest();
  await informer.synced;
  expect([urls, informer.hasSynced, informer.isAwake, informer.size]).toEqual([[], true, false, 0]);
});

test('forgets what it knew when it rests, and knows nothing from the moment it is woken until its list is there', async () => {
  const open = watch([event('ADDED', configMap('b', '11'))], true);
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { informer, urls, log } = make(list('10', configMap('a', '5')), open, async (request) => {
    await held;
    return await list('20', configMap('b', '11'))(request);
  });
  informer.wake();
  await eventually(() => expect(log).toEqual(['add a', 'add b']));
  expect(informer.hasSynced).toBe(true);
  informer.rest();
  await eventually(() => expect(log).toEqual(['add a', 'add b', 'delete a', 'delete b']));
  expect([informer.hasSynced, informer.size]).toEqual([true, 0]);
  informer.wake();
  expect([informer.hasSynced, informer.isAwake]).toEqual([false, true]);
  await eventually(() => expect(urls).toHaveLength(3));
  expect(informer.hasSynced).toBe(false);
  answer();
  await eventually(() => expect(informer.hasSynced).toBe(true));
  expect(log.at(-1)).toBe('add b');
  // Another list, and its watch.
  await eventually(() => expect(urls).toHaveLength(4));
});

test('that is woken while it goes to rest tells only what has changed meanwhile', async () => {
  const { informer, log, urls } = make(
    list('10', configMap('kept', '5'), configMap('gone', '6')),
    watch([], true),
    list('20', configMap('kept', '5')),
    watch([], true),
  );
  informer.wake();
  await eventually(() => expect(urls).toHaveLength(2));
  informer.rest();
  informer.wake();
  expect(informer.hasSynced).toBe(false);
  await eventually(() => expect(log).toEqual(['add kept', 'add gone', 'delete gone']));
  await eventually(() => expect(informer.hasSynced).toBe(true));
});

test('a list that is answered after it was put to rest is nothing that is known', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { informer } = make(async (request) => {
    await held;
    return await list('10', configMap('a', '5'))(request);
  });
  informer.wake();
  await new Promise((resolve) => setImmediate(resolve));
  informer.rest();
  answer();
  await informer.synced;
  expect([informer.hasSynced, informer.size]).toEqual([true, 0]);
});

test('ends with its signal, asleep or awake', async () => {
  const { informer, log } = make(list('10'), watch([event('ADDED', configMap('a', '11'))], true));
  informer.wake();
  await eventually(() => expect(log).toEqual(['add a']));
  stop.abort(new Error('over'));
  await informer.stopped;
  const { urls, informer: other } = make();
  other.wake();
  await expect(other.synced).rejects.toThrow('over');
  expect(urls).toEqual([]);
});
