import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { Egress } from '../../../../apiserver/egress/dial.ts';
import { controllersUser } from '../../../../cluster/names.ts';
import { definition, definitionName, group, widget, widgets } from '../../../conversion/definition.ts';
import { lies } from '../../../conversion/lies.ts';
import { type ConversionWebhook, startConversionWebhook } from '../../../conversion/webhook.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, call, startApi, take, watch } from '../api.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const failed = 'conversion webhook for conversion.example.com/v1, Kind=Widget failed';
let api: Api;
let hook: ConversionWebhook;
beforeEach(async () => {
  api = startApi();
  hook = await startConversionWebhook();
  await define();
});
afterEach(async () => {
  await api.close();
  await hook.close();
});

async function define(storage = 'v1', conversion: object = {}, home = '', at = hook): Promise<void> {
  const path = `${home}${definitions}`;
  const wanted = definition(at, storage, conversion);
  const { status } = await api.call('POST', path, wanted);
  if (status === 409) await api.call('PATCH', `${path}/${definitionName}`, { spec: wanted.spec });
}

const make = (name: string, home = '', metadata: object = {}) =>
  api.call('POST', `${home}${widgets('v1')}`, widget('v1', name, { size: 1, host: 'one:80' }, metadata));

const inside = () => api.server.transport(ownUser(controllersUser));

test('a list is converted in reviews of a hundred, in its order', async () => {
  const names = Array.from({ length: 230 }, (_, index) => `w${String(index).padStart(3, '0')}`);
  for (const name of names) await make(name);
  const { body } = await api.call('GET', widgets('v2'));
  expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(names);
  expect(new Set(body.items.map(({ spec }: { spec: object }) => JSON.stringify(spec)))).toEqual(
    new Set(['{"size":1,"hostName":"one","port":80}']),
  );
  expect(hook.asked.map(({ request }) => request.objects.length)).toEqual([100, 100, 30]);
});

test('selectors see what the version of the request is', async () => {
  await make('a', '', { labels: { app: 'a' } });
  await make('b');
  hook.lie = lies['more labels and annotations'].lie;
  const names = async (query: string) => {
    const { body } = await api.call('GET', `${widgets('v2')}?${query}`);
    return body.items?.map(({ metadata }: { metadata: { name: string } }) => metadata.name) ?? body.message;
  };
  expect(await names('labelSelector=more%3Dyes,app%3Da')).toEqual(['a']);
  expect(await names('fieldSelector=spec.hostName%3Done')).toEqual(['a', 'b']);
  expect(await names('fieldSelector=spec.hostName%3Dtwo')).toEqual([]);
});

test('all who watch a version share what the webhook makes of an event', async () => {
  await make('a');
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const stop = new AbortController();
  const watches = Array.from({ length: 5 }, () => watch(transport, `${widgets('v2')}?watch=1`, stop.signal));
  const first = await Promise.all(watches.map((one) => take(one, 1)));
  hook.asked.length = 0;
  const rest = Promise.all(watches.map((one) => take(one, 4)));
  for (const name of ['b', 'c']) await make(name);
  await api.call('PATCH', widgets('v1', 'b'), { spec: { host: 'two:81' } });
  await api.call('DELETE', widgets('v1', 'c'));
  const told = [...(await rest)].map((events) =>
    events.map(({ type, object }) => [type, object.metadata.name, object.spec]),
  );
  expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(told[0]).toEqual([
    ['ADDED', 'b', { size: 1, hostName: 'one', port: 80 }],
    ['ADDED', 'c', { size: 1, hostName: 'one', port: 80 }],
    ['MODIFIED', 'b', { size: 1, hostName: 'two', port: 81 }],
    ['DELETED', 'c', { size: 1, hostName: 'one', port: 80 }],
  ]);
  expect(first.flat().map(({ object }) => object.apiVersion)).toEqual(Array(5).fill(`${group}/v2`));
  // Once for each event, and for what an event was before that nobody was told of as it was made.
  const converted = hook.asked.flatMap(({ request }) => request.objects);
  expect(converted.length).toBeLessThanOrEqual(5);
  stop.abort();
});

test('a watch whose webhook is slow is told of all that happens meanwhile, in order', async () => {
  await make('a');
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const stop = new AbortController();
  const watching = watch(transport, `${widgets('v2')}?watch=1`, stop.signal);
  await take(watching, 1);
  const held: (() => void)[] = [];
  hook.hold = () => new Promise((resolve) => held.push(resolve));
  await make('b');
  await eventually(() => expect(held).toHaveLength(1));
  for (const name of ['c', 'd', 'e']) await make(name);
  hook.hold = undefined;
  held[0]?.();
  const events = await take(watching, 4);
  expect(events.map(({ object }) => object.metadata.name)).toEqual(['b', 'c', 'd', 'e']);
  stop.abort();
});

test('a watch goes on as without a webhook once the definition names none, and so does a write', async () => {
  await make('a');
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const stop = new AbortController();
  const watching = watch(transport, `${widgets('v2')}?watch=1`, stop.signal);
  await take(watching, 1);
  const writing = api.call('PATCH', widgets('v2', 'a'), { spec: { size: 2 } });
  const none = { spec: { conversion: { strategy: 'None', webhook: null } } };
  await api.call('PATCH', `${definitions}/${definitionName}`, none);
  expect((await writing).status).toBe(200);
  hook.asked.length = 0;
  await take(watching, 1);
  await make('b');
  await api.call('DELETE', widgets('v1', 'b'));
  const events = await take(watching, 2);
  expect(events.map(({ type, object }) => [type, object.apiVersion, object.metadata.name])).toEqual([
    ['ADDED', `${group}/v2`, 'b'],
    ['DELETED', `${group}/v2`, 'b'],
  ]);
  expect(hook.asked).toEqual([]);
  stop.abort();
});

test('a watch of what no webhook converted ends once one does, and whoever watched lists anew', async () => {
  const none = { spec: { conversion: { strategy: 'None', webhook: null } } };
  await api.call('PATCH', `${definitions}/${definitionName}`, none);
  await make('a');
  const admin = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const [v1, v2, ours] = [
    watch(admin, `${widgets('v1')}?watch=1`),
    watch(admin, `${widgets('v2')}?watch=1`),
    watch(inside(), `${widgets('v1')}?watch=1`),
  ];
  for (const one of [v1, v2, ours]) await take(one, 1);
  const columns = { spec: { versions: [] as object[] } };
  columns.spec.versions = definition(hook).spec.versions.map((one) => ({
    ...one,
    additionalPrinterColumns: [],
  }));
  await api.call('PATCH', `${definitions}/${definitionName}`, columns);
  await define();
  // Another change is not what ends them, and nothing is written to a widget: they are told by the definition alone.
  for (const one of [v1, v2]) {
    expect(await take(one, 2)).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  }
  const anew = watch(admin, `${widgets('v2')}?watch=1`);
  expect((await take(anew, 1))[0]?.object.spec).toMatchObject({ hostName: 'one', port: 80 });
  await make('b');
  expect(await take(ours, 1)).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'b' } } }]);
});

test('a watch of a version that is not served any more ends, and the webhook of before is told nothing', async () => {
  await make('a');
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const watching = watch(transport, `${widgets('v2')}?watch=1`);
  await take(watching, 1);
  const { spec } = definition(hook, 'v1');
  const versions = spec.versions.map((one) => ({ ...one, served: one.name === 'v1' }));
  await api.call('PATCH', `${definitions}/${definitionName}`, { spec: { versions } });
  hook.asked.length = 0;
  await make('b');
  const events = await take(watching, 2);
  expect(events).toMatchObject([{ type: 'ERROR', object: { code: 404, reason: 'NotFound' } }]);
  expect(hook.asked).toEqual([]);
});

test('while it fails its stored version is served, another is refused, and nothing of a write is stored', async () => {
  await make('a');
  Object.assign(hook, lies.fails);
  expect(await api.call('GET', widgets('v2', 'a'))).toMatchObject({
    status: 500,
    body: { message: `${failed}: no way`, code: 500 },
  });
  for (const [method, path, body] of [
    ['POST', widgets('v2'), widget('v2', 'b', { size: 2 })],
    ['PATCH', widgets('v2', 'a'), { spec: { size: 2 } }],
    ['DELETE', widgets('v2', 'a'), undefined],
    ['DELETE', widgets('v2'), undefined],
  ] as const) {
    expect((await api.call(method, path, body)).status).toBe(500);
  }
  const { body } = await api.call('GET', widgets('v1'));
  expect(body.items).toMatchObject([{ metadata: { name: 'a', generation: 1 }, spec: { size: 1 } }]);
  await api.call('PATCH', widgets('v1', 'a'), { spec: { size: 3 } });
  expect((await api.call('DELETE', widgets('v1', 'a'))).status).toBe(200);
});

test('our own controllers and whoever reads all logical clusters get what is stored, and ask nobody', async () => {
  const id = await api.addCluster('root:team');
  const home = '/clusters/root:team';
  await define('v1', {}, home);
  await make('a', home, { finalizers: ['example.com/stays'] });
  await define('v2', {}, home);
  hook.hold = () => new Promise(() => undefined);
  const stored = { apiVersion: `${group}/v1`, spec: { host: 'one:80' } };
  for (const version of ['v1', 'v2']) {
    const all = `/clusters/*/apis/${group}/${version}/widgets`;
    const { body } = await call(inside(), 'GET', all);
    expect(body.items).toMatchObject([{ ...stored, metadata: { annotations: { 'kcp.io/cluster': id } } }]);
    const stop = new AbortController();
    const [event] = await take(watch(inside(), `${all}?watch=1`, stop.signal), 1);
    expect(event?.object).toMatchObject(stored);
    stop.abort();
    const one = `${home}${widgets(version, 'a')}`;
    expect((await call(inside(), 'GET', one)).body).toMatchObject(stored);
  }
  const patched = await call(inside(), 'PATCH', `${home}${widgets('v2', 'a')}`, {
    metadata: { finalizers: null },
  });
  expect(patched).toMatchObject({ status: 200, body: stored });
  // Nobody's fields change hands by that.
  expect(patched.body.metadata.managedFields).toMatchObject([{ apiVersion: `${group}/v1` }]);
  expect((await call(inside(), 'DELETE', `${home}${widgets('v2', 'a')}`)).status).toBe(200);
  expect(hook.asked).toEqual([]);
});

test('a definition that is converted in one logical cluster is stamped with its version in another', async () => {
  await api.addCluster('root:a');
  await api.addCluster('root:b');
  const none = definition(hook, 'v1');
  const conversion = { strategy: 'None' };
  const plain = { ...none, spec: { ...none.spec, conversion } };
  await api.call('POST', `/clusters/root:a${definitions}`, plain);
  await define('v1', {}, '/clusters/root:b');
  await make('a', '/clusters/root:a');
  await make('b', '/clusters/root:b');
  const { body } = await api.call('GET', `/clusters/*/apis/${group}/v2/widgets`);
  const versions = body.items.map((item: { apiVersion: string; metadata: { name: string } }) => [
    item.metadata.name,
    item.apiVersion,
  ]);
  expect(new Map(versions).get('b')).toBe(`${group}/v1`);
  expect((await api.call('GET', `/clusters/root:a${widgets('v2', 'a')}`)).body.apiVersion).toBe(
    `${group}/v2`,
  );
  expect(hook.asked).toEqual([]);
});

test.each<[string, (hook: ConversionWebhook) => object]>([
  ['a webhook', (at) => definition(at, 'v1').spec],
  [
    'one version alone',
    (at) => {
      const { spec } = definition(at, 'v2');
      return { ...spec, versions: spec.versions.slice(1), conversion: { strategy: 'None' } };
    },
  ],
])(
  'whoever reads all gets what is another’s in the version asked for, though the first has %s',
  async (_, first) => {
    for (const name of ['first', 'other']) await api.addCluster(`root:${name}`);
    const { spec, ...rest } = definition(hook, 'v1');
    await api.call('DELETE', `${definitions}/${definitionName}`);
    await api.call('POST', `/clusters/root:first${definitions}`, { ...rest, spec: first(hook) });
    const plain = { ...rest, spec: { ...spec, conversion: { strategy: 'None' } } };
    await api.call('POST', `/clusters/root:other${definitions}`, plain);
    await make('w', '/clusters/root:other');
    const url = `/clusters/*/apis/${group}/v2/widgets`;
    const read = (headers = {}) => call(inside(), 'GET', url, undefined, headers);
    const expected = {
      apiVersion: `${group}/v2`,
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { size: 1 },
    };
    const { body } = await read();
    expect(body).toMatchObject({ apiVersion: `${group}/v2`, kind: 'WidgetList', items: [expected] });
    expect((await read({ accept: 'application/json;pretty=1' })).body).toEqual(body);
    const stop = new AbortController();
    const [event] = await take(watch(inside(), `${url}?watch=1`, stop.signal), 1);
    expect(event?.object).toEqual(body.items[0]);
    const told = await inside()({
      method: 'GET',
      url: `${url}?watch=1`,
      headers: {},
      objects: true,
      signal: stop.signal,
    });
    for await (const [one] of told.events ?? []) {
      expect(one?.object).toEqual(body.items[0]);
      break;
    }
    stop.abort();
  },
);

test('what a webhook says under names of ours is not taken', async () => {
  await make('a', '', { annotations: { 'atoll.dev/paused': 'true' } });
  hook.lie = (response) => ({
    ...response,
    convertedObjects: response.convertedObjects.map((one: { metadata: object }) => ({
      ...one,
      metadata: {
        ...one.metadata,
        labels: { 'atoll.dev/withdrawn': 'x', own: 'y' },
        annotations: {
          'atoll.dev/clusters': 'east',
          'atoll.dev/locator': '{}',
          'internal.atoll.dev/parts': '{}',
          'kcp.io/cluster': 'root',
          own: 'z',
        },
      },
    })),
  });
  const expected = { labels: { own: 'y' }, annotations: { 'atoll.dev/paused': 'true', own: 'z' } };
  const shown = await api.call('GET', widgets('v2', 'a'));
  expect({ labels: shown.body.metadata.labels, annotations: shown.body.metadata.annotations }).toEqual(
    expected,
  );
  await api.call('PATCH', widgets('v2', 'a'), { spec: { size: 2 } });
  hook.lie = undefined;
  const { labels, annotations } = (await api.call('GET', widgets('v1', 'a'))).body.metadata;
  expect({ labels, annotations }).toEqual(expected);
});

test('a webhook that never answers holds up eight requests of its logical cluster, and nobody else', async () => {
  const other = await startConversionWebhook();
  try {
    await api.addCluster('root:a');
    await api.addCluster('root:b');
    await define('v1', {}, '/clusters/root:a');
    await define('v1', {}, '/clusters/root:b', other);
    await make('w', '/clusters/root:a');
    await make('w', '/clusters/root:b');
    const held: (() => void)[] = [];
    hook.hold = () => new Promise((resolve) => held.push(resolve));
    const waiting = Array.from({ length: 20 }, () =>
      api.call('GET', `/clusters/root:a${widgets('v2', 'w')}`),
    );
    await eventually(() => expect(held).toHaveLength(8));
    expect((await api.call('GET', `/clusters/root:b${widgets('v2', 'w')}`)).status).toBe(200);
    expect((await api.call('GET', `/clusters/root:a${widgets('v1', 'w')}`)).status).toBe(200);
    expect(hook.asked).toHaveLength(8);
    hook.hold = undefined;
    for (const go of held) go();
    const codes = (await Promise.all(waiting)).map(({ status }) => status);
    expect(codes).toEqual(Array(20).fill(200));
  } finally {
    await other.close();
  }
});

test('who leaves gives the turn back, and no more is converted', async () => {
  for (let index = 0; index < 110; index++) await make(`w${index}`);
  const held: (() => void)[] = [];
  hook.hold = () => new Promise((resolve) => held.push(resolve));
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  const leaving = new AbortController();
  const { signal } = leaving;
  const lists = Array.from({ length: 8 }, () =>
    transport({ method: 'GET', url: widgets('v2'), headers: {}, signal }),
  );
  await eventually(() => expect(held).toHaveLength(8));
  hook.hold = undefined;
  leaving.abort();
  await Promise.allSettled(lists);
  expect((await api.call('GET', widgets('v2', 'w0'))).status).toBe(200);
  for (const go of held) go();
  expect((await api.call('GET', widgets('v2', 'w1'))).status).toBe(200);
  expect(hook.asked.map(({ request }) => request.objects.length)).toEqual([...Array(8).fill(100), 1, 1]);
});

test('it makes little of little: a longer answer is not read to its end', async () => {
  await make('a');
  hook.lie = (response) => ({
    ...response,
    convertedObjects: response.convertedObjects.map((one: object) => ({ ...one, more: 'x'.repeat(100_000) })),
  });
  const { status, body } = await api.call('GET', widgets('v2', 'a'));
  expect({ status, message: body.message }).toEqual({
    status: 500,
    message: `${failed}: http: request body too large`,
  });
});

test('it is called where the administrator lets it be, and goes nowhere else', async () => {
  await make('a');
  hook.raw = (response) => void response.writeHead(302, { location: `${hook.url}/elsewhere` }).end();
  const redirected = await api.call('GET', widgets('v2', 'a'));
  expect(redirected.body.message).toBe(
    `${failed}: the server responded with the status code 302 but did not return more information`,
  );
  expect(hook.asked).toHaveLength(1);
  await api.close();
  api = startApi({ egress: new Egress() });
  await define();
  await make('a');
  const { port } = new URL(hook.url);
  const refused = await api.call('GET', widgets('v2', 'a'));
  expect(refused).toMatchObject({ status: 500 });
  expect(refused.body.message).toBe(
    `${failed}: Post "${hook.url}?timeout=30s": dial tcp 127.0.0.1:${port}: a loopback address is not allowed (--egress-allow)`,
  );
  expect(hook.asked).toHaveLength(1);
});

test('it is asked in the first version of the review that it takes and that is known', async () => {
  await make('a');
  const asked = async (conversionReviewVersions: string[]) => {
    await define('v1', { conversionReviewVersions });
    hook.asked.length = 0;
    const { body } = await api.call('GET', widgets('v2', 'a'));
    return hook.asked[0]?.apiVersion ?? body.message;
  };
  expect(await asked(['v2', 'v1beta1', 'v1'])).toBe('apiextensions.k8s.io/v1beta1');
  expect(await asked(['v1', 'v1beta1'])).toBe('apiextensions.k8s.io/v1');
  expect(hook.asked[0]?.request).toMatchObject({
    desiredAPIVersion: `${group}/v2`,
    objects: [
      { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { host: 'one:80' } },
    ],
  });
});

test('what is written anew, though nothing changes, is stored in the version that the definition has now', async () => {
  await make('a');
  await define('v2');
  await api.call('PATCH', widgets('v2', 'a'), {});
  Object.assign(hook, lies.fails);
  const { status, body } = await api.call('GET', widgets('v2', 'a'));
  expect({ status, spec: body.spec }).toEqual({
    status: 200,
    spec: { size: 1, hostName: 'one', port: 80, tier: 'plain' },
  });
  const definitionNow = await api.call('GET', `${definitions}/${definitionName}`);
  expect(definitionNow.body.status.storedVersions).toEqual(['v1', 'v2']);
});

test('a policy for one version sees requests in another as it has them', async () => {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] };
  await api.call('POST', `${admission}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'hosts' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "object.spec.host == 'two:81'", message: 'not here' }],
    },
  });
  await api.call('POST', `${admission}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'hosts' },
    spec: { policyName: 'hosts', validationActions: ['Deny'] },
  });
  const good = await api.call('POST', widgets('v2'), widget('v2', 'a', { hostName: 'two', port: 81 }));
  expect(good.status, good.body.message).toBe(201);
  const bad = await api.call('POST', widgets('v2'), widget('v2', 'b', { hostName: 'one', port: 81 }));
  expect(bad.status).toBe(422);
});
