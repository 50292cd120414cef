import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiRequest, UserInfo } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { loadTracing } from '../../../server/tracing/load.ts';
import type { Tracing } from '../../../server/tracing/tracing.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { eventually } from '../../eventually.ts';
import { type ReceivedSpan, Receiver } from '../../otlp/receiver.ts';
import { type Api, configMaps, startApi } from '../apiserver/api.ts';
import { type Hooks, startHooks } from '../apiserver/webhook/hooks.ts';

const users: Record<string, UserInfo> = {
  admin: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
  ann: { name: 'ann', groups: ['system:authenticated'] },
};
const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const traced = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'a=b' };

let directory: string;
let receiver: Receiver;
let hooks: Hooks | undefined;
let tracing: Tracing | undefined;
let api: Api | undefined;
const metrics = { add: () => undefined };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-tracing-'));
  receiver = new Receiver();
  await receiver.start();
});
afterEach(async () => {
  await api?.close();
  await tracing?.close();
  await hooks?.close();
  receiver.stop();
  await rm(directory, { recursive: true });
});

async function configured(more: object, endpoint = receiver.endpoint): Promise<Tracing | undefined> {
  const file = join(directory, 'tracing.yaml');
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
  await writeFile(file, JSON.stringify({ ...head, endpoint, ...more }));
  const settings = resolveSettings({ dataDir: directory, tracingConfigFile: file }, undefined, {});
  return loadTracing({ settings, files: new TakenFiles(), part: 'first', logger: silentLogger, metrics });
}

async function start(samplingRatePerMillion: number, endpoint = receiver.endpoint): Promise<void> {
  tracing = await configured({ samplingRatePerMillion }, endpoint);
  const store = openMemory();
  api = startApi({
    store: tracing?.over(store) ?? store,
    tracer: tracing?.tracer,
    authenticate: [({ headers }) => users[headers['x-who'] ?? '']],
  });
}

/** From the network. */
function send(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<{ status: number; headers: Record<string, string | string[]> }> {
  const request: ApiRequest = {
    method,
    url,
    headers: { 'x-who': 'admin', ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: Buffer.from(JSON.stringify(body)) }),
  };
  if (api === undefined) throw new Error('not started');
  return api.server.receive(request, { address: '::ffff:10.0.0.7' });
}

const spans = async (count: number): Promise<ReceivedSpan[]> => {
  await eventually(() => expect(receiver.spans.length).toBeGreaterThanOrEqual(count));
  return receiver.spans;
};
/** What is counted, by reason where there is one. */
const counted = (name: string): Record<string, number> => {
  const found = tracing?.families().find(({ definition }) => definition.name === name);
  return Object.fromEntries((found?.figures ?? []).map(({ labels, value }) => [labels.join(), value]));
};

describe('a request that the administrator wants traced', () => {
  test('is a span of that trace, with its steps', async () => {
    await start(0);
    const created = await send('POST', `${configMaps}?fieldManager=me&token=hunter2`, traced, {
      metadata: { name: 'a' },
      data: { word: 'hunter2' },
    });
    expect(created.status).toBe(201);
    const found = await spans(5);
    expect(new Set(found.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const [request] = receiver.named('POST /api/v1/namespaces/{:namespace}/configmaps');
    expect(request).toMatchObject({
      parentSpanId: parentId,
      traceState: 'a=b',
      kind: 2,
      status: 0,
      links: [],
      attributes: {
        'audit-id': created.headers['audit-id'],
        'http.request.method': 'POST',
        'url.scheme': 'https',
        'url.path': configMaps,
        'http.target': `${configMaps}?fieldManager=me&token=...`,
        'http.response.status_code': '201',
        'client.address': '10.0.0.7',
        'network.peer.address': '10.0.0.7',
        'atoll.logical_cluster': 'root',
      },
      resource: {
        'service.name': 'apiserver',
        'service.instance.id': expect.stringMatching(/^apiserver-[0-9a-f]{26}$/),
        'process.pid': String(process.pid),
        'atoll.process': 'first',
      },
    });
    const steps = found.filter((span) => span !== request);
    expect(steps.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['authentication', 'priorityandfairness', 'authorization', 'store create']),
    );
    for (const step of steps) {
      expect(step.parentSpanId).toBe(request?.spanId);
      expect(BigInt(step.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(request?.startTimeUnixNano ?? 0));
      expect(BigInt(step.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(step.startTimeUnixNano));
      expect(BigInt(step.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request?.endTimeUnixNano ?? 0));
    }
    expect(receiver.named('store create')[0]?.attributes).toEqual({
      key: '/core/configmaps/root/default/a',
    });
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });

  test('is told to the webhooks that are asked about it', async () => {
    await start(0);
    hooks = await startHooks({});
    const configuration = {
      metadata: { name: 'hooks' },
      webhooks: [
        {
          name: 'look.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: hooks.config('/look'),
          rules: [
            { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
          ],
        },
      ],
    };
    const group = '/apis/admissionregistration.k8s.io/v1';
    for (const kind of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])
      expect((await send('POST', `${group}/${kind}`, {}, configuration)).status).toBe(201);
    expect((await send('POST', configMaps, traced, { metadata: { name: 'a' } })).status).toBe(201);
    expect((await send('POST', configMaps, {}, { metadata: { name: 'b' } })).status).toBe(201);
    await spans(7);
    const calls = ['Call mutating webhook', 'Call validating webhook'].map((name) => receiver.named(name)[0]);
    expect(hooks.asked.map(({ headers }) => [headers['traceparent'], headers['tracestate']])).toEqual([
      ...calls.map((call) => [`00-${traceId}-${call?.spanId}-01`, 'a=b']),
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(calls[0]).toMatchObject({
      kind: 3,
      attributes: {
        configuration: 'hooks',
        webhook: 'look.example.com',
        resource: '/v1, Resource=configmaps',
        subresource: '',
        operation: 'CREATE',
        UID: hooks.asked[0]?.request.uid,
      },
    });
  });

  test('says that it failed where the server did, and not where the client', async () => {
    await start(0);
    expect((await send('GET', `${configMaps}/none`, traced)).status).toBe(404);
    await spans(4);
    const [request] = receiver.named('GET /api/v1/namespaces/{:namespace}/configmaps/{:name}');
    expect([request?.status, request?.attributes['http.response.status_code']]).toEqual([0, '404']);
  });

  test('is told of when a watch ends', async () => {
    await start(0);
    const stop = new AbortController();
    const request = { method: 'GET', url: `${configMaps}?watch=1`, headers: { 'x-who': 'admin', ...traced } };
    const watch = await api?.server.receive({ ...request, signal: stop.signal }, {});
    const name = 'GET /api/v1/namespaces/{:namespace}/configmaps';
    await spans(3);
    expect(receiver.named(name)).toEqual([]);
    const reading = (async () => {
      for await (const _ of (watch?.body ?? []) as AsyncIterable<Uint8Array>);
    })();
    stop.abort();
    await reading;
    await eventually(() => expect(receiver.named(name)).toHaveLength(1));
  });
});

describe('anybody else', () => {
  test('does not say what is traced: a trace of our own is linked to theirs', async () => {
    await start(1_000_000);
    expect((await send('GET', configMaps, { ...traced, 'x-who': 'ann' })).status).toBe(403);
    await spans(3);
    const [request] = receiver.named('GET /api/v1/namespaces/{:namespace}/configmaps');
    expect(request).toMatchObject({
      parentSpanId: '',
      traceState: '',
      links: [{ traceId, spanId: parentId }],
    });
    expect(request?.traceId).not.toBe(traceId);
  });

  test('who is unknown has no span', async () => {
    await start(1_000_000);
    expect((await send('GET', configMaps, { ...traced, 'x-who': 'nobody' })).status).toBe(401);
    expect((await send('GET', configMaps)).status).toBe(200);
    await spans(4);
    expect(receiver.spans.filter(({ kind }) => kind === 2)).toHaveLength(1);
  });
});

describe('what becomes of spans', () => {
  test('those that wait at the end are sent', async () => {
    await start(1_000_000);
    await send('GET', configMaps);
    await api?.close();
    await tracing?.close();
    expect(receiver.named('GET /api/v1/namespaces/{:namespace}/configmaps')).toHaveLength(1);
    const { length } = receiver.spans;
    expect(counted('atoll_tracing_spans_exported_total')).toEqual({ '': length });
  });

  test('those that a receiver does not take are counted', async () => {
    await start(1_000_000);
    receiver.rejects = 1;
    await send('GET', configMaps);
    await api?.close();
    await tracing?.close();
    expect(counted('atoll_tracing_spans_lost_total')).toEqual({ buffered: 0, receiver: 1 });
  });

  test.each([
    ['is not there', false],
    ['says nothing', true],
  ])(
    'a receiver that %s keeps nobody waiting, and what there is no room for is counted',
    async (_, hangs) => {
      receiver.hangs = hangs;
      await start(1_000_000, hangs ? receiver.endpoint : '127.0.0.1:1');
      const requests = 600;
      for (let i = 0; i < requests; i++) expect((await send('GET', configMaps)).status).toBe(200);
      await api?.close();
      await tracing?.close();
      const { buffered = 0, receiver: refused = 0 } = counted('atoll_tracing_spans_lost_total');
      expect(buffered).toBeGreaterThan(0);
      expect(buffered + refused).toBeGreaterThanOrEqual(5 * requests);
    },
  );
});

test('a file that says what is not so ends the start, with the words of kube-apiserver', async () => {
  await expect(configured({ samplingRatePerMillion: -1 })).rejects.toThrow(
    `--tracing-config-file ${join(directory, 'tracing.yaml')}: failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive`,
  );
});
