import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { ownResources } from '../../../cluster/resources.ts';
import { startGenericControllers } from '../../../controller/generic.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { type Api, definitions, startApi, thingsDefinition } from '../apiserver/api.ts';

let store: Store;
let api: Api;
/** What happens once the controllers have deleted an object. */
let deleted: () => Promise<void>;
let stop: AbortController;
let done: Promise<void>;

beforeEach(() => {
  store = openMemory();
  deleted = async () => {};
  api = startApi({ store, resources: ownResources.map((one) => ({ ...one, custom: true })) });
  stop = new AbortController();
  const user = { name: 'controllers', groups: ['system:masters'] };
  const direct = api.server.transport(user);
  const transport: Transport = async (request) => {
    const response = await direct(request);
    if (request.method === 'DELETE') await deleted();
    return response;
  };
  const client = new Client(transport, { cluster: '*' });
  const { signal } = stop;
  const informers = new InformerSet(client, { cluster: '*', signal });
  done = startGenericControllers({ client, informers, signal, logger: silentLogger });
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
});

const own = `${definitions}/things.example.com`;
const things = '/apis/example.com/v1/namespaces/default/things';
const thing = (name: string, finalizers: string[] = []) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, finalizers },
});

async function endAndDefineAgain(): Promise<void> {
  await api.call('DELETE', own);
  await eventually(async () => expect((await api.call('GET', own)).status).toBe(404));
  await api.call('POST', definitions, thingsDefinition());
}

test('the objects of a definition that serves no version go with it', async () => {
  const definition = thingsDefinition() as { spec: { versions: object[] } };
  await api.call('POST', definitions, definition);
  await api.call('POST', things, thing('a'));
  const versions = definition.spec.versions.map((version) => ({ ...version, served: false }));
  await api.call('PATCH', own, { spec: { versions } });
  expect((await api.call('GET', things)).status).toBe(404);
  await endAndDefineAgain();
  expect((await api.call('GET', things)).body.items).toEqual([]);
});

test('the objects of a definition that asked for another name since go with it', async () => {
  await api.call('POST', definitions, thingsDefinition());
  const other = thingsDefinition() as { metadata: object; spec: object };
  await api.call('POST', definitions, {
    ...other,
    metadata: { name: 'others.example.com' },
    spec: { ...other.spec, names: { plural: 'others', kind: 'Other' } },
  });
  await api.call('POST', things, thing('a'));
  await api.call('PATCH', own, { spec: { names: { shortNames: ['others'] } } });
  const { conditions } = (await api.call('GET', own)).body.status;
  expect(conditions[0]).toMatchObject({ type: 'NamesAccepted', status: 'False' });
  await endAndDefineAgain();
  expect((await api.call('GET', things)).body.items).toEqual([]);
});

test('nothing is made of a definition that is going', async () => {
  await api.call('POST', definitions, thingsDefinition());
  await api.call('POST', things, thing('a', ['example.com/held']));
  await api.call('DELETE', own);
  const made = await api.call('POST', things, thing('b'));
  expect(made.body).toMatchObject({
    code: 403,
    message:
      'things.example.com "b" is forbidden: create not allowed while custom resource definition is terminating',
  });
  expect((await api.call('PATCH', `${things}/a`, { metadata: { finalizers: null } })).status).toBe(200);
  await eventually(async () => expect((await api.call('GET', own)).status).toBe(404));
});

test('what a server made of it that had not heard of its end goes, too', async () => {
  await api.call('POST', definitions, thingsDefinition());
  await api.call('POST', things, thing('a'));
  const key = (name: string) => `/example.com/things/root/default/${name}`;
  const made = await store.get(key('a'));
  if (made === undefined) throw new Error('a is not stored');
  const late = Buffer.from(Buffer.from(made.value).toString().replace('"name":"a"', '"name":"late"'));
  deleted = async () => {
    deleted = async () => {};
    await store.create(key('late'), late);
  };
  await endAndDefineAgain();
  expect((await api.call('GET', things)).body.items).toEqual([]);
});

test('what others hold says that its objects are gone, and nothing more is made of it', async () => {
  const definition = thingsDefinition() as { metadata: object };
  const metadata = { ...definition.metadata, finalizers: ['example.com/held'] };
  await api.call('POST', definitions, { ...definition, metadata });
  await api.call('POST', things, thing('a'));
  await api.call('DELETE', own);
  await eventually(async () =>
    expect((await api.call('GET', own)).body.metadata.finalizers).toEqual(['example.com/held']),
  );
  expect((await api.call('GET', own)).body.status.conditions).toContainEqual(
    expect.objectContaining({
      type: 'Terminating',
      status: 'False',
      reason: 'InstanceDeletionCompleted',
      message: 'removed all instances',
    }),
  );
  expect((await api.call('POST', things, thing('b'))).status).toBe(403);
  expect((await api.call('GET', things)).body.items).toEqual([]);
  await api.call('PATCH', own, { metadata: { finalizers: null } });
  await endAndDefineAgain();
  expect((await api.call('GET', things)).body.items).toEqual([]);
});
