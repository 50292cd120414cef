import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Answer, type Api, admin, definitions, startApi, thingsDefinition, watch } from './api.ts';

const things = '/apis/example.com/v1/namespaces/default/things';
const text = { type: 'string' };

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const specs = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
const before = { type: 'object', properties: { a: text, gone: text } };
const after = { type: 'object', properties: { a: text, late: { ...text, default: 'd' } } };

function definition(spec: object): object {
  const additionalPrinterColumns = [{ name: 'Late', type: 'string', jsonPath: '.spec.late' }];
  return thingsDefinition({ spec }, { additionalPrinterColumns });
}

/** An object that was stored before the definition got a default and lost a field. */
async function storeThenChange(prefix = ''): Promise<void> {
  await api.call('POST', `${prefix}${definitions}`, definition(before));
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } };
  await api.call('POST', `${prefix}${things}`, { ...object, spec: { a: 'x', gone: 'y' } });
  const patch = [{ op: 'replace', path: specs, value: after }];
  const type = { 'content-type': 'application/json-patch+json' };
  expect((await api.call('PATCH', `${prefix}${definitions}/things.example.com`, patch, type)).status).toBe(
    200,
  );
}

const now = { a: 'x', late: 'd' };

test('what was stored before is read by the definition as it is', async () => {
  await storeThenChange();
  const one = await api.call('GET', `${things}/t`);
  expect(one.body.spec).toEqual(now);
  expect((await api.call('GET', things)).body.items[0].spec).toEqual(now);
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  expect((await api.call('GET', things, undefined, { accept })).body.rows[0].cells).toEqual(['t', 'd']);
  const pretty = await api.call('GET', `${things}/t?pretty=true`);
  expect(pretty.body.spec).toEqual(now);
});

test('a watch tells of it, and of its deletion', async () => {
  await storeThenChange();
  const events = watch(api.server.transport(admin), `${things}?watch=1&resourceVersion=0`);
  expect((await events.next()).value).toMatchObject({ type: 'ADDED', object: { spec: now } });
  const gone = await api.call('DELETE', `${things}/t`);
  expect(gone.body.status ?? gone.body.spec).toBeDefined();
  expect((await events.next()).value).toMatchObject({ type: 'DELETED', object: { spec: now } });
  await events.return(undefined);
});

test('a write of something else is no change of what it reads so', async () => {
  await storeThenChange();
  const { body } = await api.call('PATCH', `${things}/t`, { metadata: { labels: { l: 'v' } } });
  expect([body.metadata.generation, body.spec]).toEqual([1, now]);
  const again = await api.call('PUT', `${things}/t`, body);
  expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
});

test('each logical cluster reads by its own definition', async () => {
  const id = await api.addCluster('root:other');
  await storeThenChange('/clusters/root:other');
  await api.call('POST', definitions, definition(before));
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } };
  await api.call('POST', things, { ...object, spec: { a: 'x', gone: 'y' } });
  const { body } = await api.call('GET', '/clusters/*/apis/example.com/v1/things');
  const found = body.items.map((item: Answer) => [item.metadata.annotations['kcp.io/cluster'], item.spec]);
  expect(Object.fromEntries(found)).toEqual({ [id]: now, root: { a: 'x', gone: 'y' } });
});

test('a server that starts later reads the same', async () => {
  const store = openMemory();
  const close = api.close;
  api = startApi({ store });
  await storeThenChange();
  const later = startApi({ store });
  expect((await later.call('GET', things)).body.items[0].spec).toEqual(now);
  await later.server.close();
  await close();
});

const seen = { seen: -1 };
const withStatus = () =>
  thingsDefinition(
    {
      spec: before,
      status: { type: 'object', default: seen, properties: { seen: { type: 'integer' }, phase: text } },
    },
    { subresources: { status: {} } },
  );
const thing = (name: string) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec: { a: 'x' },
  status: { phase: 'what a client says is not kept' },
});

test('what has no status yet is answered with that of its defaults, and is no change of whoever writes the rest', async () => {
  await api.call('POST', definitions, withStatus());
  const tried = await api.call('POST', `${things}?dryRun=All`, thing('posted'));
  const posted = await api.call('POST', things, thing('posted'));
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await api.call('PATCH', `${things}/applied?fieldManager=m`, thing('applied'), apply);
  expect([tried, posted, applied].map(({ body }) => body.status)).toEqual([seen, seen, seen]);
  for (const { body } of [posted, applied])
    for (const { fieldsV1 } of body.metadata.managedFields) expect(fieldsV1).not.toHaveProperty('f:status');
  const listed = await api.call('GET', things);
  expect(listed.body.items.map(({ status }: Answer) => status)).toEqual([seen, seen]);
  const events = watch(api.server.transport(admin), `${things}?watch=1&resourceVersion=0`);
  expect((await events.next()).value).toMatchObject({ object: { status: seen } });
  await events.return(undefined);
  const { body } = await api.call('PATCH', `${things}/posted/status`, { status: { phase: 'Ready' } });
  expect(body.status).toEqual({ ...seen, phase: 'Ready' });
  const manager = body.metadata.managedFields.find(({ subresource }: Answer) => subresource === 'status');
  expect(manager.fieldsV1).toEqual({ 'f:status': { 'f:phase': {} } });
});
