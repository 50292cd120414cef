import { expect, test } from 'vitest';
import { webhookAuthenticator } from '../../../../apiserver/authn/webhook.ts';
import type { ApiResponse } from '../../../../kube/http.ts';

const kind = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' };

function world(status: unknown, answer: Partial<ApiResponse> = {}, now?: () => number) {
  const asked: string[] = [];
  const audiences: string[][] = [];
  const failures: unknown[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const authenticator = webhookAuthenticator({
    transport: async ({ body }) => {
      const { spec } = JSON.parse(Buffer.from(body ?? []).toString());
      asked.push(spec.token);
      audiences.push(spec.audiences);
      await held;
      const said = {
        ...kind,
        status: await (typeof status === 'function' ? status(spec.token, spec.audiences) : status),
      };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(said)), ...answer };
    },
    failed: (error) => failures.push(error),
    issuer: 'https://atoll',
    ...(now && { now }),
  });
  const ask = (token?: string, cluster = 'root') =>
    authenticator(
      { method: 'GET', url: '/', headers: token ? { authorization: `Bearer ${token}` } : {} },
      {},
      cluster,
    );
  return { ask, asked, audiences, failures, release };
}

test('it is asked once, and its answer remembered', async () => {
  const user = { username: 'ann', uid: '7', groups: ['dev', 'system:authenticated'], extra: { a: ['b'] } };
  const { ask, asked, release } = world({ authenticated: true, user });
  const both = [ask('t'), ask('t')];
  release();
  const ann = { name: 'ann', uid: '7', groups: ['dev'], extra: { a: ['b'] } };
  expect(await Promise.all(both)).toEqual([ann, ann]);
  expect(ask('t')).toEqual(ann);
  expect(ask()).toBeUndefined();
  expect(asked).toEqual(['t']);
});

test.each<[string, unknown]>([
  ['no', { authenticated: false, user: { username: 'ann' } }],
  ['no word of it', { user: { username: 'ann' } }],
  ['nobody', { authenticated: true }],
  ['for others', { authenticated: true, user: { username: 'ann' }, audiences: ['vault'] }],
  ['an account', { authenticated: true, user: { username: 'system:serviceaccount:a:b' } }],
  ['an administrator', { authenticated: true, user: { username: 'ann', groups: ['system:masters'] } }],
  ['nothing', undefined],
])('%s', async (_what, status) => {
  const { ask, asked, failures, release } = world(status);
  release();
  expect(await ask('t')).toBeUndefined();
  expect(ask('t')).toBeUndefined();
  expect(asked).toHaveLength(1);
  expect(failures).toEqual([]);
});

test('it says nothing of logical clusters', async () => {
  const extra = {
    'authentication.kcp.io/cluster-name': ['c1'],
    'authentication.kcp.io/scopes': ['cluster:c1'],
  };
  const { ask, release } = world({ authenticated: true, user: { username: 'ann', extra } });
  release();
  expect(await ask('t')).toEqual({ name: 'ann', groups: [] });
});

const everywhere = 'https://kubernetes.default.svc';

test('it is told of which logical cluster, as an audience; a token for that one alone is nobody’s elsewhere', async () => {
  const { ask, asked, audiences, release } = world((token: string, given: string[]) => {
    const own = token === 'a’s' ? given.filter((one) => one.endsWith('/clusters/a')) : given.slice(0, 1);
    return { authenticated: own.length > 0, user: { username: 'ann' }, audiences: own };
  });
  release();
  expect(await ask('a’s', 'b')).toBeUndefined();
  const scoped = { name: 'ann', groups: [], extra: { 'authentication.kcp.io/scopes': ['cluster:a'] } };
  expect(await ask('a’s', 'a')).toEqual(scoped);
  expect(ask('a’s', 'a')).toEqual(scoped);
  expect(ask('a’s', 'b')).toBeUndefined();
  expect(await ask('a’s', 'root')).toBeUndefined();
  expect(await ask('a’s', '*')).toBeUndefined();
  const [a, b] = ['a', 'b'].map((id) => [everywhere, `https://atoll/clusters/${id}`]);
  expect(audiences).toEqual([b, a, [everywhere], [everywhere]]);
  expect(await ask('all', 'a')).toEqual({ name: 'ann', groups: [] });
  expect(ask('all', 'b')).toEqual({ name: 'ann', groups: [] });
  expect(asked).toHaveLength(5);
});

test('one that says nothing of audiences is of everywhere: it is asked once for all logical clusters', async () => {
  const { ask, asked, release } = world({ authenticated: true, user: { username: 'ann' } });
  release();
  expect(await ask('t', 'a')).toEqual({ name: 'ann', groups: [] });
  expect(ask('t', 'b')).toEqual({ name: 'ann', groups: [] });
  expect(asked).toEqual(['t']);
});

test('tokens that are made up, however slow the answers, keep out none that was good before', async () => {
  let time = 0;
  let slow = false;
  const never = new Promise<never>(() => {});
  const status = (token: string) => (slow && token !== 'good' ? never : undefined);
  const { ask, release } = world(
    (token: string) => status(token) ?? { authenticated: token === 'good', user: { username: 'ann' } },
    {},
    () => time,
  );
  release();
  const ann = await ask('good', 'a');
  expect(ann).toBeDefined();
  time += 60_000;
  slow = true;
  for (let i = 0; i < 100; i++) void ask(`bad${i}`);
  expect(() => ask('bad')).toThrow(expect.objectContaining({ code: 429 }));
  expect(await ask('good', 'b')).toEqual(ann);
});

test.each<[string, Partial<ApiResponse>]>([
  ['an error', { status: 500 }],
  ['no JSON', { body: Buffer.from('<html>') }],
  ['something else', { body: Buffer.from('{"kind":"Status"}') }],
])('%s is told, and asked again', async (_what, answer) => {
  const { ask, asked, failures, release } = world({}, answer);
  release();
  expect([await ask('t'), await ask('t')]).toEqual([undefined, undefined]);
  expect([asked.length, failures.length]).toEqual([2, 2]);
});

test('a flood of tokens asks no more than a hundred at a time, and nobody is taken for nobody by it', () => {
  const { ask, asked } = world({});
  for (let i = 0; i < 100; i++) void ask(`t${i}`);
  expect(() => ask('another')).toThrow(expect.objectContaining({ code: 429, reason: 'TooManyRequests' }));
  expect(asked).toHaveLength(100);
});

test('tokens that are made up take the place of none that is good', async () => {
  const { ask, asked, release } = world((token: string) => ({
    authenticated: token === 'good',
    user: { username: 'ann' },
  }));
  release();
  const ann = await ask('good');
  for (let i = 0; i < 10_000; i++) await ask(`bad${i}`);
  expect(asked).toHaveLength(10_001);
  expect(ask('good')).toEqual(ann);
});

test('one that is too long to be a token is not handed on', () => {
  const { ask, asked } = world({});
  expect([ask('t'.repeat(100_000)), asked]).toEqual([undefined, []]);
});
