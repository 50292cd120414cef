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
  await expect(ask('bad')).rejects.toMatchObject({ code: 429 });
  expect(await ask('good', 'b')).toEqual(ann);
});

test('a token that is good in one logical cluster takes the place of none, whatever names it is asked about under', async () => {
  let time = 0;
  let slow = false;
  const never = new Promise<never>(() => {});
  const { ask, asked, release } = world(
    (token: string, given: string[]) => {
      if (token === 'all') return { authenticated: true, user: { username: 'ann' } };
      if (slow) return never;
      const own = given.filter((one) => one.endsWith('/clusters/a'));
      return { authenticated: own.length > 0, user: { username: 'bob' }, audiences: own };
    },
    {},
    () => time,
  );
  release();
  const ann = await ask('all', 'b');
  expect(await ask('a’s', 'a')).toMatchObject({ name: 'bob' });
  time += 60_000;
  slow = true;
  for (let i = 0; i < 100; i++) void ask('a’s', `made-up-${i}`);
  expect(await ask('all', 'c')).toEqual(ann);
  const before = asked.length;
  // Where it is good it is asked about before others still.
  void ask('a’s', 'a');
  expect(asked).toHaveLength(before + 1);
});

test('no more than four questions about one token take the places of those that were good', async () => {
  let time = 0;
  let slow = false;
  const never = new Promise<never>(() => {});
  const { ask, asked, release } = world(
    (_token: string, given: string[]) =>
      slow ? never : { authenticated: true, user: { username: 'bob' }, audiences: given.slice(1) },
    {},
    () => time,
  );
  release();
  const ids = Array.from({ length: 6 }, (_, i) => `c${i}`);
  for (const id of ids) await ask('t', id);
  time += 60_000;
  slow = true;
  for (let i = 0; i < 99; i++) void ask(`new${i}`);
  const before = asked.length;
  for (const id of ids.slice(0, 5)) void ask('t', id);
  expect(asked).toHaveLength(before + 5);
  await expect(ask('t', 'c5')).rejects.toMatchObject({ code: 429 });
});

test('one that was good everywhere is asked about once for all names at a time', async () => {
  let time = 0;
  const { ask, asked, release } = world({ authenticated: true, user: { username: 'ann' } }, {}, () => time);
  release();
  const ann = await ask('t', 'a');
  time += 60_000;
  const all = Array.from({ length: 200 }, (_, i) => ask('t', `made-up-${i}`));
  expect(await Promise.all(all)).toEqual(all.map(() => ann));
  expect(asked).toHaveLength(2);
});

test('one that was good everywhere, and is good in one logical cluster now, is nobody’s in others that asked meanwhile', async () => {
  let time = 0;
  let scoped = false;
  const { ask, release } = world(
    (_token: string, given: string[]) => {
      if (!scoped) return { authenticated: true, user: { username: 'ann' } };
      const own = given.filter((one) => one.endsWith('/clusters/a'));
      return { authenticated: own.length > 0, user: { username: 'ann' }, audiences: own };
    },
    {},
    () => time,
  );
  release();
  await ask('t', 'a');
  time += 60_000;
  scoped = true;
  const ann = { name: 'ann', groups: [], extra: { 'authentication.kcp.io/scopes': ['cluster:a'] } };
  expect(await Promise.all([ask('t', 'a'), ask('t', 'b')])).toEqual([ann, undefined]);
  time += 60_000;
  expect(await Promise.all([ask('t', 'b'), ask('t', 'a')])).toEqual([undefined, ann]);
});

test('one that was good everywhere, and is revoked, keeps out none that is good', async () => {
  let time = 0;
  let revoked = false;
  const { ask, release } = world(
    (token: string) => ({ authenticated: token === 'good' || !revoked, user: { username: token } }),
    {},
    () => time,
  );
  release();
  await Promise.all([ask('good'), ask('bad')]);
  time += 60_000;
  revoked = true;
  const all = Array.from({ length: 101 }, (_, i) => ask('bad', `made-up-${i}`));
  expect(await ask('good', 'b')).toMatchObject({ name: 'good' });
  const rest = await Promise.all(all);
  expect(rest.filter(Boolean)).toEqual([]);
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

test('a flood of tokens asks no more than a hundred at a time, and nobody is taken for nobody by it', async () => {
  const { ask, asked } = world({});
  for (let i = 0; i < 100; i++) void ask(`t${i}`);
  await expect(ask('another')).rejects.toMatchObject({ code: 429, reason: 'TooManyRequests' });
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
