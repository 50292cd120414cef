import { describe, expect, test } from 'vitest';
import { parseRequest } from '../../../../apiserver/request.ts';
import { nameOf, SpanTracer } from '../../../../server/tracing/tracer.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
const infoOf = (method: string, url: string) => parseRequest(method, url, { logicalClusters: true });

describe("spans' names are kube-apiserver's", () => {
  test.each([
    ['GET', '/api/v1/namespaces/default/configmaps', 'GET /api/v1/namespaces/{:namespace}/configmaps'],
    ['PUT', '/api/v1/namespaces/a/pods/b/status', 'PUT /api/v1/namespaces/{:namespace}/pods/{:name}/status'],
    ['GET', '/apis/apps/v1/deployments?watch=1', 'GET /apis/apps/v1/deployments'],
    ['GET', '/clusters/root/api/v1/nodes/a', 'GET /api/v1/nodes/{:name}'],
    ['GET', '/healthz', 'GET'],
    ['POST', '/nope', 'POST'],
  ])('%s %s', (method, url, name) => {
    expect(nameOf({ method }, infoOf(method, url))).toBe(name);
  });
});

describe('whose word counts', () => {
  const masters = ['system:masters', 'system:authenticated'];
  test.each([
    ['the administrator wants it', 0, masters, '01', true],
    ['monitoring wants it', 0, ['system:monitoring'], '01', true],
    ['the administrator does not', 1_000_000, masters, '00', false],
    ['anybody else wants it', 0, ['system:authenticated'], '01', false],
    ['anybody else, where all is traced', 1_000_000, ['system:authenticated'], '00', true],
    ['nobody says', 1_000_000, masters, undefined, true],
    ['nobody says, and nothing is traced', 0, masters, undefined, false],
  ])('%s', (_, perMillion, groups, flags, told) => {
    const spans: Uint8Array[] = [];
    const tracer = new SpanTracer(perMillion, (span) => spans.push(span));
    const url = '/api/v1/nodes';
    const headers = flags === undefined ? {} : { traceparent: `${traceparent}-${flags}` };
    const trace = tracer.begin(
      { method: 'GET', url, headers },
      infoOf('GET', url),
      { name: 'ann', groups },
      {},
      0,
    );
    trace?.answered({ status: 200, headers: {}, body: new Uint8Array() });
    trace?.over();
    expect(spans.length > 0).toBe(told);
  });
});

describe('what a request is part of', () => {
  const url = '/api/v1/nodes';
  const user = { name: 'admin', groups: ['system:masters'] };
  const begun = (flags: string, spans: Uint8Array[] = []) => {
    const tracer = new SpanTracer(0, (span) => spans.push(span));
    const request = { method: 'GET', url, headers: { traceparent: `${traceparent}-${flags}` } };
    return { tracer, trace: tracer.begin(request, infoOf('GET', url), user, {}, 0) };
  };

  test('is said while it is under way, and no longer', () => {
    const { tracer, trace } = begun('01');
    expect(tracer.headers()).toBeUndefined();
    trace?.run(() => {
      expect(tracer.headers()?.['traceparent']).toMatch(
        /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/,
      );
      trace.answered({ status: 200, headers: {}, body: new Uint8Array() });
      expect(tracer.headers()).toBeUndefined();
    });
  });

  test('is passed on though nobody wants it', () => {
    const { tracer, trace } = begun('00');
    trace?.run(() => expect(tracer.headers()).toEqual({ traceparent: `${traceparent}-00` }));
  });

  test('a request with thousands of steps tells of the first ones', async () => {
    const spans: Uint8Array[] = [];
    const { tracer, trace } = begun('01', spans);
    const before = spans.length;
    const step = () =>
      tracer.step(
        'store delete',
        'internal',
        () => ({ key: '/a' }),
        async () => 1,
      );
    await trace?.run(async () => {
      for (let i = 0; i < 1000; i++) expect(await step()).toBe(1);
    });
    expect(spans.length - before).toBe(128);
  });

  test('what fails, fails', async () => {
    const { tracer, trace } = begun('01');
    const failing = () =>
      tracer.step(
        'store get',
        'internal',
        () => ({}),
        () => Promise.reject(new Error('no')),
      );
    await expect(trace?.run(failing)).rejects.toThrow('no');
  });
});
