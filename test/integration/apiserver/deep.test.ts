import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { Client } from '../../../client/client.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { encodeProtobuf } from '../../../kube/protobuf/codec.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import {
  type Api,
  admin,
  call,
  configMaps,
  definitions,
  type Reply,
  startApi,
  thingsDefinition,
} from './api.ts';

let store: Store;
let api: Api;
beforeEach(() => {
  store = openMemory();
  api = startApi({ store });
});
afterEach(() => api.close());

const things = '/apis/example.com/v1/namespaces/default/things';
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const maps = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const thing = (spec: string, name = 'one') =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`;
const revision = (data: string) =>
  `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"revision":1,"data":${data}}`;

async function define(version: object = {}): Promise<void> {
  const { status } = await api.call(
    'POST',
    definitions,
    thingsDefinition({ spec: open, status: open }, version),
  );
  expect(status).toBe(201);
}

const tooDeep = (kind: string) =>
  `400 ${kind} in version "v1" cannot be handled as a ${kind}: json: exceeded max depth`;
/** Without the object: nobody can print those. */
const said = ({ status, body }: Reply) => (status < 300 ? `${status}` : `${status} ${body.message ?? body}`);

test.each(['example', 'default', 'enum'])(
  'the %s of a schema nests as deep as any object, no deeper',
  async (field) => {
    const given = (levels: number) => {
      const said = `"${field}":${field === 'enum' ? `[${lists(levels)}]` : lists(levels)}`;
      const items = { 'x-kubernetes-preserve-unknown-fields': true };
      const definition = thingsDefinition({ spec: { type: 'array', items, description: 'here' } });
      return JSON.stringify(definition).replace('"description":"here"', said);
    };
    expect(said(await api.call('POST', definitions, given(9980)))).toBe(tooDeep('CustomResourceDefinition'));
    expect(said(await api.call('POST', definitions, given(980)))).toBe('201');
  },
);

test('an object nests in a thousand levels, and comes back with who manages them', async () => {
  await define();
  for (const nested of [lists, maps]) {
    expect(said(await api.call('POST', things, thing(`{"a":${nested(999)}}`)))).toBe(tooDeep('Thing'));
    const made = await api.call('POST', things, thing(`{"a":${nested(998)}}`));
    expect(said(made)).toBe('201');
    made.body.metadata.labels = { a: 'b' };
    expect(said(await api.call('PUT', `${things}/one`, made.body))).toBe('200');
    const yaml = { accept: 'application/yaml' };
    const all = '/clusters/*/apis/example.com/v1/things';
    expect(said(await api.call('GET', all, undefined, yaml))).toBe('200');
    await api.call('DELETE', `${things}/one`);
  }
});

test('no way in takes more', async () => {
  await define({ subresources: { status: {} } });
  const { body: made } = await api.call('POST', things, thing(`{"a":${maps(900)}}`));
  const version = made.metadata.resourceVersion;
  const one = `${things}/one`;
  const patch = (type: string, body: unknown, url = one) =>
    api.call('PATCH', url, body, { 'content-type': `application/${type}` });
  const copies = [{ op: 'copy', from: '/spec', path: `/spec${'/a'.repeat(900)}` }];
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const put = (spec: string) => thing(spec).replace('"name"', `"resourceVersion":"${version}","name"`);
  const refused = [
    await api.call('PUT', one, put(lists(9000))),
    await api.call('PUT', `${one}/status`, put('{}').replace('"spec"', `"status":${maps(1000)},"spec"`)),
    await patch('json-patch+json', copies),
    await patch('json-patch+json', copies, `${one}?dryRun=All`),
    await patch('merge-patch+json', `{"spec":${maps(1000)}}`),
    await patch('merge-patch+json', `{"status":${maps(1000)}}`, `${one}/status`),
  ];
  for (const answer of refused) expect(said(answer)).toBe(tooDeep('Thing'));
  for (const type of ['json-patch+json', 'merge-patch+json']) {
    const patched = await patch(type, maps(9000));
    expect(said(patched)).toBe("400 error decoding patch: invalid character '{' exceeded max depth");
  }
  const apply = await patch('apply-patch+yaml', thing(lists(9000)), `${one}?fieldManager=me`);
  expect(said(apply)).toMatch(/^400 .*exceeded max depth/);
  const yaml = { 'content-type': 'application/yaml' };
  const posted = await api.call('POST', things, thing(lists(9000), 'two'), yaml);
  expect(said(posted)).toMatch(/^400 .*exceeded max depth/);

  expect((await api.call('POST', revisions, revision('{}'))).status).toBe(201);
  const built = [
    await api.call('POST', revisions, revision(maps(1000))),
    await api.call('PATCH', `${revisions}/r`, `{"data":${maps(1000)}}`, strategic),
    await call(
      (request) => {
        const object = JSON.parse(revision(maps(1000))) as KubeObject;
        return api.server.transport(admin)({ ...request, body: encodeProtobuf(object) });
      },
      'POST',
      revisions,
      '',
      { 'content-type': 'application/vnd.kubernetes.protobuf' },
    ),
  ];
  for (const answer of built) expect(said(answer)).toBe(tooDeep('ControllerRevision'));
  const fields = `[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${maps(9000)}}]`;
  const managed = `{"metadata":{"name":"c","managedFields":${fields}}}`;
  expect(said(await api.call('POST', configMaps, managed))).toBe(tooDeep('ConfigMap'));
});

test('what was stored deeper before is read by our controllers, in a list and in a watch', async () => {
  await define();
  const client = new Client(api.server.transport(ownUser('system:atoll:controllers')), {
    cluster: '*',
    userAgent: 'test',
  });
  const resource = { group: 'example.com', version: 'v1', resource: 'things' };
  const { resourceVersion } = (await client.list(resource)).metadata;
  const stop = new AbortController();
  const events = client.watch(resource, { resourceVersion, signal: stop.signal });
  const told = (async () => {
    for await (const event of events) return event;
    return undefined;
  })();
  const stored = `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"deep"},"spec":${maps(10_005)}}`;
  await store.create('/example.com/things/root/default/deep', Buffer.from(stored));
  expect((await client.list(resource)).items.map(({ metadata }) => metadata.name)).toEqual(['deep']);
  expect((await told)?.object.metadata.name).toBe('deep');
  stop.abort();
});

test('what was stored deeper before is deleted by our controllers', async () => {
  await define();
  const key = '/apiextensions.k8s.io/customresourcedefinitions/root/things.example.com';
  const entry = await store.get(key);
  const text = Buffer.from(entry?.value ?? []).toString();
  const deep = text.replace('"type":"object"', `"type":"object","example":${lists(9900)}`);
  await store.update(key, Buffer.from(deep), entry?.revision ?? 0);
  const one = `${definitions}/things.example.com`;
  const { body } = await api.call('GET', one);
  body.metadata.labels = { a: 'b' };
  expect(said(await api.call('PUT', one, encodeJson(body)))).toBe(tooDeep('CustomResourceDefinition'));
  expect(said(await api.call('DELETE', one))).toBe('200');
  const own = api.server.transport(ownUser('system:atoll:controllers'));
  expect(said(await call(own, 'PATCH', one, { metadata: { labels: { a: 'b' } } }))).toBe('200');
  const going = (await api.call('GET', one)).body;
  expect(going.metadata.deletionTimestamp).toEqual(expect.any(String));
  going.metadata.finalizers = [];
  expect(said(await call(own, 'PUT', one, encodeJson(going)))).toBe('200');
  expect((await api.call('GET', one)).status).toBe(404);
});

test('what was stored deeper before is patched by anybody as deep as it is, and read as JSON', async () => {
  await define();
  const deep = (levels: number) =>
    `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"deep","namespace":"default","uid":"u","finalizers":["example.com/f"],"deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":0},"spec":{"a":${maps(levels)}}}`;
  await store.create('/example.com/things/root/default/deep', Buffer.from(deep(9900)));
  const one = `${things}/deep`;
  const patch = (body: string, type = 'merge-patch') =>
    api.call('PATCH', one, body, { 'content-type': `application/${type}+json` });
  expect(said(await patch('{"metadata":{"labels":{"a":"b"}}}'))).toBe('200');
  const deeper = '[{"op":"copy","from":"/spec","path":"/spec/b"}]';
  expect(said(await patch(deeper, 'json-patch'))).toBe(tooDeep('Thing'));
  const yaml = await api.call('GET', one, undefined, { accept: 'application/yaml' });
  expect(yaml.status).toBe(406);
  expect(JSON.stringify(yaml.body)).toContain('ask for application/json');
  expect(said(await patch('{"metadata":{"finalizers":null}}'))).toBe('200');
  expect((await api.call('GET', one)).status).toBe(404);
});
