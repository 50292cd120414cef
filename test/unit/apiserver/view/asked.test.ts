import { beforeEach, expect, test } from 'vitest';
import type { StatusError } from '../../../../kube/status.ts';
import type { Entry, Store } from '../../../../storage/store.ts';
import { until } from '../../../world/objects.ts';
import { active, deployment, keys, logical, namespace, placementKey, Upstream } from './upstream.ts';

/* What a syncer's word costs of the store: behind a pipe each question goes to another process. */

const events = { group: '', version: 'v1', resource: 'events' };
const ofDeployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace };
const [root, ref] = deployment('web');

let upstream: Upstream;
/** The keys that were asked for. */
let asked: string[];
/** What this process saw last; as openPipe keeps it. */
let seen: Map<string, Entry>;

beforeEach(async () => {
  asked = [];
  seen = new Map();
  upstream = await Upstream.make('east');
  await upstream.place(root, ref, { east: active });
  await note(keys.object(ref, logical, namespace));
  await put('first');
  spyOn(upstream.store);
});

function spyOn(store: Store): void {
  const get = store.get.bind(store);
  Object.assign(store, {
    get: (key: string, options?: { revision?: number }) => {
      asked.push(key);
      return get(key, options);
    },
    seen: (key: string) => seen.get(key),
  });
}

async function note(key: string): Promise<void> {
  const entry = await upstream.store.get(key);
  if (entry) seen.set(key, entry);
}

const put = (name: string, more: object = {}) =>
  upstream.client('east').update(
    events,
    {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name, namespace },
      namespaceUid: `uid-of-${namespace}`,
      involvedObject: ofDeployment,
      ...more,
    },
    { cluster: logical },
  );

const reasonOf = (name: string) =>
  upstream.read(keys.object({ ...events, name }, logical, namespace)).then((event) => event?.['reason']);

const code = (promise: Promise<unknown>) => promise.then(() => 200).catch(({ code }: StatusError) => code);

test('an Event about a Deployment is one write, and no question', async () => {
  await put('second', { reason: 'Scaled', count: 1 });
  expect(asked).toEqual([]);
  expect(await reasonOf('second')).toBe('Scaled');
});

test('one that was told before is read, whatever it says of how often', async () => {
  await put('first', { reason: 'Again', count: 1 });
  expect(asked).toEqual([keys.object({ ...events, name: 'first' }, logical, namespace)]);
  asked = [];
  await put('first', { reason: 'Twice', count: 2 });
  expect(asked).toEqual([keys.object({ ...events, name: 'first' }, logical, namespace)]);
  expect(await reasonOf('first')).toBe('Twice');
});

test('what was seen last is no proof but of what the cluster has', async () => {
  const [other, otherRef] = deployment('other');
  await upstream.place(other, otherRef, { east: active });
  await upstream.remove(placementKey(ref));
  let times = 0;
  await until(
    'the view has heard that it has left',
    async () => (await code(put(`late-${times++}`))) === 404,
  );
});

test('what is not there is refused as ever: the cluster, the Namespace, and a Namespace that was made anew', async () => {
  expect(await code(put('second', { namespaceUid: 'uid-of-another' }))).toBe(404);
  const space = keys.namespace(logical, namespace);
  const made = (await upstream.read(space)) ?? root;
  await upstream.remove(space);
  expect(await code(put('third'))).toBe(404);
  await upstream.write(space, { ...made, metadata: { ...made.metadata, uid: 'uid-of-the-next' } });
  expect(await code(put('third'))).toBe(404);
  expect(await code(put('third', { namespaceUid: 'uid-of-the-next' }))).toBe(200);
  await upstream.remove(keys.physicalCluster('east'));
  expect(await code(put('fourth', { namespaceUid: 'uid-of-the-next' }))).toBe(404);
});
