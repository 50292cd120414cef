import { expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { PlacedObject } from '../../../cluster/closure.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { notFound } from '../../../kube/status.ts';
import { worldOf } from '../../../scheduler/copy.ts';
import { unheardOf } from '../../../scheduler/heard.ts';
import type { Decided } from '../../../scheduler/types.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { Stored } from './stored.ts';

const one = { 'kcp.io/cluster': 'one' };
const key = 'one//shop';
const home: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', uid: 'n', annotations: one },
};
const within = ({ kind, object }: PlacedObject): PlacedObject => {
  const metadata = {
    ...object.metadata,
    namespace: 'shop',
    uid: object.metadata.name ?? '',
    annotations: one,
  };
  return { kind, object: { ...object, metadata } };
};
const web = within(deployment('web'));
const set = within(placed('StatefulSet', 'db', { spec: {} }));
const all = [web, set];

const hangs = () => new Promise<never>(() => {});
const fails = async () => {
  throw new TypeError('odd');
};

/** By uid, why it is not known what is said of its data, where reading these resources comes to this. */
async function whyOf(failing: Record<string, () => Promise<never>>, signal = new AbortController().signal) {
  const stored = new Stored();
  stored.put('namespaces', home);
  const read = async ({ resource }: { resource: string }, name: string) => {
    await failing[resource]?.();
    const found = [home, ...all.map(({ object }) => object)].find((one) => one.metadata.name === name);
    if (!found) throw notFound({ group: '', resource }, name);
    return found;
  };
  const reader = {
    get: (resource: { resource: string }, { name }: { name: string }) => read(resource, name),
    list: async ({ resource }: { resource: string }) => {
      await failing[resource]?.();
      return { items: [] };
    },
  } as unknown as Client;
  const leavers = all.map((one) => ({ placed: one, requires: [] })) as unknown as Decided[];
  const found = await unheardOf(key, leavers, worldOf(stored.of), { reader, signal, readMs: 50 });
  return Object.fromEntries([...found].map(([uid, { why }]) => [uid, why]));
}

const why = (what: string) => `what is said of its data cannot be read: ${what}`;

test.each<[string, Record<string, () => Promise<never>>, Record<string, string>]>([
  ['all is read', {}, {}],
  ['one of its kind cannot be', { statefulsets: fails }, { db: why('statefulsets.apps: odd') }],
  [
    'the claims cannot be',
    { persistentvolumeclaims: fails },
    { db: why('persistentvolumeclaims: odd'), web: why('persistentvolumeclaims: odd') },
  ],
  [
    'whoever is asked does not even end when told to',
    { deployments: hangs },
    { web: why('deployments.apps: no answer within 0.05 s') },
  ],
])('what is not heard is of those alone that it is about: %s', async (_, failing, expected) => {
  expect(await whyOf(failing)).toEqual(expected);
});

test('whoever has ended waits for nobody, and says nothing of anybody', async () => {
  const life = new AbortController();
  const asked = whyOf({ deployments: hangs, statefulsets: fails }, life.signal);
  life.abort(new Error('ended'));
  await expect(asked).rejects.toThrow('ended');
});
