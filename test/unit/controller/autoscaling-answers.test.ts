import { expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import { readAll } from '../../../controller/autoscaling/read.ts';
import { podsOf, scaleOf, writeScale } from '../../../controller/autoscaling/target.ts';
import type { Metric, Reading } from '../../../controller/autoscaling/types.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';

/** What a logical cluster's own API servers answer, whatever that be. */
const where = { cluster: 'shop', namespace: 'default', signal: new AbortController().signal };
const metric = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } },
};
const spec = { scaleTargetRef: { apiVersion: 'a.example/v1', kind: 'Farm', name: 'web' }, maxReplicas: 3 };
const mostRead = 8 << 20;

function client(answer: (request: ApiRequest) => Partial<ApiResponse>) {
  const asked: string[] = [];
  const transport = async (request: ApiRequest): Promise<ApiResponse> => {
    asked.push(request.url);
    return { status: 200, headers: {}, body: new Uint8Array(), ...answer(request) };
  };
  return { asked, client: new Client(transport) };
}

const json = (body: object) => ({ body: Buffer.from(JSON.stringify(body)) });
const list = (items: unknown[], metadata: object = {}) =>
  json({ kind: 'ExternalMetricValueList', apiVersion: 'external.metrics.k8s.io/v1beta1', metadata, items });
const all = async (client: Client, of: Metric[]): Promise<Reading[]> =>
  await readAll({ reader: client, client, version: () => 'v1beta1', selector: 'app=web', where }, of);
const read = async (client: Client, of: Metric): Promise<Reading> => (await all(client, [of]))[0] as Reading;
const ask = async (body: () => Partial<ApiResponse>): Promise<Reading> =>
  await read(client(body).client, metric);

/** Goes on until nobody reads it any more. */
function endless(): { body: AsyncIterable<Uint8Array>; given: () => number } {
  let given = 0;
  const pieces = async function* () {
    for (; given < 4 * mostRead; given += 64 << 10) yield Buffer.alloc(64 << 10, ' ');
  };
  return { body: pieces(), given: () => given };
}

it('metrics without an end are not read to it', async () => {
  const { body, given } = endless();
  expect(await ask(() => ({ body }))).toMatchObject({ failure: expect.stringContaining('is longer than') });
  expect(given()).toBeLessThanOrEqual(mostRead);
});

it('nor pages without end: there is one answer', async () => {
  const { asked, client: one } = client(() => list([{ value: '3' }], { continue: 'more' }));
  expect(await read(one, metric)).toEqual({ values: [3000n] });
  expect(asked).toEqual(['/clusters/shop/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue']);
});

it('is asked for in lower case', async () => {
  const { asked, client: one } = client(() => list([]));
  const external = { ...metric.external, metric: { name: 'cron-UTC' } };
  await read(one, { ...metric, external });
  expect(asked).toEqual(['/clusters/shop/apis/external.metrics.k8s.io/v1beta1/namespaces/default/cron-utc']);
});

it.each<[string, unknown[]]>([
  ['nothing', []],
  ['no object', [null]],
  ['no value', [{}]],
  ['no number', [{ value: 'NaN' }]],
  ['what is no quantity', [{ value: { of: 1 } }]],
])('%s is a failure', async (_, items) => {
  expect(await ask(() => list(items))).toHaveProperty('failure');
});

it('a number beyond all measure is the largest', async () => {
  const most = 2n ** 63n - 1n;
  expect(await ask(() => list([{ value: '1e900' }, { value: '-1e900' }]))).toEqual({ values: [most, -most] });
});

it('what it says of a failure is told, and not at any length', async () => {
  const message = `no such queue ${'x'.repeat(1 << 19)}`;
  const answer = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code: 500 };
  const reading = await ask(() => ({ status: 500, ...json(answer) }));
  const { failure } = reading as { failure: string };
  expect(failure).toContain('no such queue');
  expect(failure.length).toBeLessThan(2_000);
});

it('a scale without an end is not read to it', async () => {
  const kinds = { resources: [{ name: 'farms', kind: 'Farm', namespaced: true, verbs: ['get'] }] };
  const { client: reader } = client(() => json(kinds));
  const { body, given } = endless();
  await expect(scaleOf(reader, client(() => ({ body })).client, spec, where)).rejects.toThrow(
    'is longer than',
  );
  expect(given()).toBeLessThanOrEqual(mostRead);
});

it('nor is what it answers to another scale', async () => {
  const { body, given } = endless();
  const object = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web', namespace: 'default' },
  };
  const resource = { group: 'a.example', version: 'v1', resource: 'farms' };
  const found = { resource, object, scale: { wanted: 1, current: 1 }, selector: '' };
  await expect(writeScale(client(() => ({ body })).client, found, 2, where)).rejects.toThrow(
    'is longer than',
  );
  expect(given()).toBeLessThanOrEqual(mostRead);
});

it('that it may not read the pods is told', async () => {
  const message = 'pods is forbidden: User "system:serviceaccount:kube-system:horizontal-pod-autoscaler"';
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'Forbidden',
    message,
    code: 403,
  };
  const { client: forbidden } = client(() => ({ status: 403, ...json(body) }));
  const unlisted = `unable to get pods while calculating replica count: ${message}`;
  expect(await podsOf(forbidden, { selector: 'app=web' }, where)).toEqual({ pods: [], unlisted });
});

it('of its pods only what counts is kept', async () => {
  const resources = { requests: { cpu: '1' } };
  const pod = {
    metadata: { name: 'a', annotations: { long: 'x' }, managedFields: [{ manager: 'x' }] },
    spec: { nodeName: 'n', containers: [{ name: 'main', image: 'x', env: [{ name: 'LONG' }], resources }] },
    status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready' }, { type: 'Initialized' }] },
  };
  const { client: one } = client(() =>
    json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [pod] }),
  );
  const { pods } = await podsOf(one, { selector: 'app=web' }, where);
  expect(pods).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'main', resources }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready' }] },
    },
  ]);
});

it('however many metrics one has, of all together no more is kept than one pass may', async () => {
  const long = list(Array.from({ length: 60_000 }, () => ({ value: '1' })));
  const { asked, client: one } = client(() => long);
  const readings = await all(one, [metric, metric, metric, metric]);
  expect(readings.map((reading) => 'failure' in reading)).toEqual([false, false, true, true]);
  expect(asked).toHaveLength(2);
});
