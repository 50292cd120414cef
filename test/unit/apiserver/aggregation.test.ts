import { describe, expect, test, vi } from 'vitest';
import type { AggregatedService } from '../../../apiserver/aggregation/api-service.ts';
import { answeredHeaders, sentHeaders } from '../../../apiserver/aggregation/headers.ts';
import { KeptAnswers } from '../../../apiserver/aggregation/kept.ts';
import { openApiQuestion } from '../../../apiserver/aggregation/openapi.ts';
import { resourcesQuestion } from '../../../apiserver/aggregation/resources.ts';
import { swaggerQuestion } from '../../../apiserver/aggregation/swagger.ts';
import { UnderWay } from '../../../apiserver/aggregation/turns.ts';
import { eventually } from '../../eventually.ts';

const ann = { name: 'ann', groups: ['team'] };

describe('what another API server is told of a request', () => {
  test.each([
    ['x-remote-user', 'admin'],
    ['x-remote-group', 'system:masters'],
    ['x-remote-uid', '0'],
    ['x-remote-extra-scopes', 'all'],
    ['x_remote_user', 'admin'],
    ['x-remote_group', 'system:masters'],
    ['authorization', 'Bearer secret'],
    ['proxy-authorization', 'Basic secret'],
    ['cookie', 'token=secret'],
    ['impersonate-user', 'admin'],
    ['impersonate-group', 'system:masters'],
    ['sec-websocket-protocol', 'base64url.bearer.authorization.k8s.io.c2VjcmV0'],
    ['x-forwarded-for', '10.0.0.1'],
    ['x-forwarded-uri', '/other'],
    ['forwarded', 'for=10.0.0.1'],
    ['connection', 'x-remote-group'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '5'],
    ['te', 'trailers'],
    ['trailer', 'x-remote-user'],
    ['expect', '100-continue'],
    ['x-http-method-override', 'DELETE'],
    ['x-atoll-availability-check', 'yes'],
    ['host', 'elsewhere'],
  ])('nothing of %s: %s that came with it', (name, value) => {
    const sent = sentHeaders({ headers: { [name]: value, accept: 'application/json' } }, ann);
    expect(sent).toEqual({ accept: 'application/json', 'x-remote-user': 'ann', 'x-remote-group': ['team'] });
  });

  test('names and keys that no header can hold are told as client-go tells them', () => {
    const extra = { 'a/b c': ['1', '2'], empty: [], ü: ['ü'] };
    expect(sentHeaders({ headers: {} }, { name: 'ü', uid: 'u', groups: [], extra })).toEqual({
      'x-remote-user': '\u00c3\u00bc',
      'x-remote-uid': 'u',
      'x-remote-extra-a%2Fb%20c': ['1', '2'],
      'x-remote-extra-%C3%BC': ['\u00c3\u00bc'],
    });
  });
});

test('of an answer nothing is passed on that is believed of the whole server', () => {
  const said = {
    'content-type': 'application/json',
    warning: '299 - "old"',
    'set-cookie': ['session=1'],
    'strict-transport-security': 'max-age=1',
    'access-control-allow-origin': '*',
    'www-authenticate': 'Basic',
    'transfer-encoding': 'chunked',
    connection: 'close',
    'report-to': '{"endpoints":[{"url":"https://elsewhere"}]}',
    nel: '{"report_to":"a"}',
    'reporting-endpoints': 'a="https://elsewhere"',
    'expect-ct': 'report-uri="https://elsewhere"',
    'service-worker-allowed': '/',
    'content-security-policy-report-only': 'report-uri https://elsewhere',
    'permissions-policy-report-only': 'a=();report-to=a',
    'audit-id': 'forged',
    'x-kubernetes-pf-flowschema-uid': 'forged',
    'x-atoll-availability-check': 'asked',
  };
  expect(answeredHeaders(said)).toEqual({ 'content-type': 'application/json', warning: '299 - "old"' });
});

test('so many of one logical cluster are under way, and others have their own room', () => {
  const underWay = new UnderWay({ short: 2, lasting: 1 });
  const [one, two] = [underWay.take('a', false), underWay.take('a', false)];
  expect([one, two].every(Boolean)).toBe(true);
  expect(underWay.take('a', false)).toBeUndefined();
  expect(underWay.take('a', true)).toBeDefined();
  expect(underWay.take('a', true)).toBeUndefined();
  expect(underWay.take('b', false)).toBeDefined();
  one?.();
  one?.();
  expect(underWay.take('a', false)).toBeDefined();
  expect(underWay.take('a', false)).toBeUndefined();
});

describe('what other API servers say that they serve', () => {
  const service = (name: string, edition = 'uid/1'): AggregatedService => ({
    name,
    edition,
    group: 'g',
    version: 'v1',
    service: { namespace: 'a', name: 'b', port: 443 },
    insecure: false,
    groupPriority: 1,
    versionPriority: 1,
    available: true,
  });
  const kept = (most?: { ofCluster: number; ofAll: number }) => {
    const asked: string[] = [];
    const says = { resources: [{ name: 'as', kind: 'A', verbs: ['get'] }] as object[], raw: '' };
    const all = new KeptAnswers(async (cluster, { name, edition }) => {
      asked.push(`${cluster} ${name} ${edition}`);
      return { status: 200, headers: {}, body: Buffer.from(says.raw || JSON.stringify(says)) };
    }, most);
    return {
      asked,
      says,
      all,
      of: (cluster: string, one: AggregatedService) => all.of(cluster, one, resourcesQuestion),
    };
  };
  const large = Array.from({ length: 100 }, (_, i) => ({ name: `as${i}`, kind: 'A'.repeat(100) }));

  test('is asked once, and anew of an APIService that changed or was made anew', async () => {
    const { asked, of } = kept();
    for (const edition of ['uid/1', 'uid/1', 'uid/2', 'other/2', 'other/2']) {
      expect(await of('a', service('v1.g', edition))).toMatchObject({ isFresh: true, value: [{}] });
    }
    expect(asked).toEqual(['a v1.g uid/1', 'a v1.g uid/2', 'a v1.g other/2']);
  });

  test('is forgotten with its APIService', async () => {
    const { asked, all, of } = kept();
    for (const name of ['v1.g', 'v2.g']) await of('a', service(name));
    const both = all.bytes;
    all.retain('a', [service('v1.g')]);
    expect(all.bytes).toBe(both / 2);
    all.retain('b', []);
    await of('a', service('v1.g'));
    expect(asked).toHaveLength(2);
    all.retain('a', []);
    expect(all.bytes).toBe(0);
  });

  test.each([
    ['more resources than are taken', JSON.stringify({ resources: Array(1001).fill({ name: 'a/b' }) })],
    ['more bytes', JSON.stringify({ resources: [{ name: 'a', kind: 'A'.repeat(513 << 10) }] })],
    ['no JSON', '{'],
    ['no object', '[]'],
  ])('is nothing where that is %s, and is not asked for again at once', async (_what, raw) => {
    const { asked, says, of } = kept();
    says.raw = raw;
    for (let i = 0; i < 3; i++) {
      expect(await of('a', service('v1.g'))).toEqual({ isFresh: false, value: undefined });
    }
    expect(asked).toHaveLength(1);
  });

  test.each([
    [256, 'x'.repeat(256)],
    [257, undefined],
  ])('is asked for with the ETag of %s characters that it had, where that is kept', async (length, sent) => {
    const etags: (string | undefined)[] = [];
    const all = new KeptAnswers(async (_cluster, _service, { etag }) => {
      etags.push(etag);
      return { status: 200, headers: { etag: 'x'.repeat(length) }, body: Buffer.from('{}') };
    });
    const atOnce = { ...resourcesQuestion, freshMs: 0 };
    for (let i = 0; i < 2; i++) await all.of('a', service('v1.g'), atOnce);
    expect(etags).toEqual([undefined, sent]);
  });

  test('is kept of each logical cluster up to its bound, and of all: who was asked about longest ago goes first', async () => {
    const { asked, says, all, of } = kept({ ofCluster: 50_000, ofAll: 100_000 });
    says.resources = large;
    const fresh = [];
    for (const name of ['v1.g', 'v2.g', 'v3.g']) fresh.push((await of('a', service(name))).isFresh);
    expect(fresh).toEqual([true, true, false]);
    expect(all.bytes).toBeLessThanOrEqual(50_000);
    for (const cluster of ['b', 'a', 'c', 'd', 'e', 'f']) {
      expect(await of(cluster, service('v1.g'))).toMatchObject({ isFresh: true });
      expect(all.bytes).toBeLessThanOrEqual(100_000);
    }
    asked.length = 0;
    for (const cluster of ['f', 'b']) await of(cluster, service('v1.g'));
    expect(asked).toEqual(['b v1.g uid/1']);
  });

  test('is asked again after its time, by its ETag, and stays what it is where nothing changed', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      const etags: (string | undefined)[] = [];
      const all = new KeptAnswers(async (_cluster, _service, { etag }) => {
        etags.push(etag);
        const body = Buffer.from(JSON.stringify({ resources: [{ name: 'as', kind: 'A', verbs: [] }] }));
        return etag
          ? { status: 304, headers: {}, body: new Uint8Array() }
          : { status: 200, headers: { etag: '"1"' }, body };
      });
      const ask = () => all.of('a', service('v1.g'), resourcesQuestion);
      const first = await ask();
      vi.advanceTimersByTime(resourcesQuestion.freshMs - 1);
      await ask();
      expect(etags).toEqual([undefined]);
      vi.advanceTimersByTime(1);
      expect(await ask()).toEqual(first);
      expect(etags).toEqual([undefined, '"1"']);
      await ask();
      expect(etags).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['fails: what it said last is kept', 500, true, openApiQuestion.retryMs],
    ['has none any more: nothing is', 404, false, openApiQuestion.freshMs],
  ])('of documents, where it %s, and is asked again after a while', async (_what, status, isKept, after) => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      let [says, count] = [200, 0];
      const index = { paths: { 'apis/g/v1': { serverRelativeURL: '/openapi/v3/apis/g/v1?hash=A' } } };
      const all = new KeptAnswers(async () => {
        count++;
        return { status: says, headers: {}, body: Buffer.from(JSON.stringify(index)) };
      });
      const ask = async () => (await all.of('a', service('v1.g'), openApiQuestion)).value;
      expect(await ask()).toEqual([{ path: 'apis/g/v1', hash: 'A' }]);
      says = status;
      vi.advanceTimersByTime(openApiQuestion.freshMs);
      expect((await ask()) !== undefined).toBe(isKept);
      vi.advanceTimersByTime(after - 1);
      await ask();
      expect(count).toBe(2);
      vi.advanceTimersByTime(1);
      await ask();
      expect(count).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });

  test('of long answers one of a logical cluster is read at a time', async () => {
    let [open, most] = [0, 0];
    const parts: (() => void)[] = [];
    async function* body(): AsyncGenerator<Uint8Array> {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => parts.push(resolve));
      open--;
      yield Buffer.from('{}');
    }
    const all = new KeptAnswers(async () => ({ status: 200, headers: {}, body: body() }));
    const read = ['v1.g', 'v2.g'].map((name) => all.of('a', service(name), swaggerQuestion));
    for (const _one of read) {
      await eventually(() => expect(parts).toHaveLength(1));
      parts.shift()?.();
    }
    await Promise.all(read);
    expect(most).toBe(1);
  });
});
