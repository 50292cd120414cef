import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AccountToken, ShareView } from '../../../cluster/types.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { notFound } from '../../../kube/status.ts';
import { isAccountToken } from '../../../syncer/account-secret.ts';
import { AccountTokens } from '../../../syncer/account-tokens.ts';

const hour = 3_600_000;
const secret = 'atoll-token-robot';
const locator = {
  syncer: 'me',
  cluster: 'abc',
  namespace: 'shop',
  resource: 'deployments.apps',
  name: 'web',
  uid: 'w',
};
let now = 0;
let life: AbortController;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-02T00:00:00Z') });
  now = Date.now();
  life = new AbortController();
});
afterEach(() => {
  life.abort();
  vi.useRealTimers();
});

/** A physical cluster with Secrets, a server that gives tokens for a day, and shares. */
function parts() {
  const secrets = new Map<string, KubeObject>();
  const shares: ShareView[] = [];
  const objects: KubeObject[] = [];
  const made = new Map<string, KubeObject[]>();
  const given: string[] = [];
  const handlers: { delete?: (share: ShareView) => void }[] = [];
  const keyOf = (namespace = '', name = '') => `${namespace}/${name}`;
  const client = {
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      const found = secrets.get(keyOf(namespace, name));
      if (!found) throw notFound({ group: '', resource: 'secrets' }, name);
      return found;
    },
    list: async ({ resource }: { resource: string }) => ({
      items: resource === 'secrets' ? [...secrets.values()] : (made.get(resource) ?? []),
      metadata: {},
    }),
    patch: async (
      _: unknown,
      { namespace, name }: { namespace: string; name: string },
      _how: string,
      body: KubeObject,
    ) => {
      secrets.set(keyOf(namespace, name), { ...body, metadata: { uid: 's', ...body.metadata } });
      return body;
    },
    delete: async (_: unknown, { namespace, name }: { namespace: string; name: string }) =>
      void secrets.delete(keyOf(namespace, name)),
  };
  const upstream = {
    create: async (): Promise<AccountToken> => {
      given.push(`token-${given.length}`);
      return {
        kind: 'AccountToken',
        apiVersion: 'atoll.dev/v1alpha1',
        metadata: { name: 'robot', uid: 'u' },
        token: given.at(-1) ?? '',
        expirationTimestamp: new Date(Date.now() + 24 * hour).toISOString(),
        authority: 'PEM',
      };
    },
  };
  const tokens = new AccountTokens({
    uid: 'me',
    name: 'east',
    former: new Set(),
    client,
    upstream,
    shares: {
      addIndex: () => undefined,
      byIndex: () => shares.filter(({ spec }) => spec?.manifest),
      on: (handler: object) => void handlers.push(handler),
    },
    physical: { inNamespace: () => objects.map((object) => ({ object })) },
    namespaces: { own: () => ({ locator }), count: () => 1, informer: { on: () => undefined } },
    signal: life.signal,
    logger: silentLogger,
  } as never);
  const tokenThere = () => {
    const data = secrets.get(`there/${secret}`)?.['data'] as { token: string } | undefined;
    return data && Buffer.from(data.token, 'base64').toString();
  };
  return { tokens, secrets, shares, objects, made, given, handlers, tokenThere };
}

const share = {
  metadata: { name: 'web.deployments.apps' },
  spec: {
    account: { name: 'robot', uid: 'u', authority: '', secret },
    locator,
    physicalNamespace: 'there',
    manifest: { metadata: {} },
  },
} as unknown as ShareView;
const spec = share.spec as NonNullable<ShareView['spec']>;

test('is made once, and again when half of its time is over', async () => {
  const { tokens, shares, tokenThere, given } = parts();
  shares.push(share);
  const running = tokens.run([]);
  await tokens.ensure(spec);
  await tokens.ensure(spec);
  expect([tokenThere(), given.length]).toEqual(['token-0', 1]);
  await vi.advanceTimersByTimeAsync(11 * hour);
  expect(given.length).toBe(1);
  await vi.advanceTimersByTimeAsync(2 * hour);
  expect([tokenThere(), given.length]).toEqual(['token-1', 2]);
  expect(Date.now() - now).toBe(13 * hour);
  life.abort();
  await running;
});

test('who starts anew goes on with what is there, and makes again what somebody took away', async () => {
  const before = parts();
  await before.tokens.ensure(spec);
  const { tokens, shares, secrets, given, tokenThere } = parts();
  shares.push(share);
  for (const [key, object] of before.secrets) secrets.set(key, object);
  void tokens.run([]);
  await vi.advanceTimersByTimeAsync(1_000);
  await tokens.ensure(spec);
  expect(given).toEqual([]);
  secrets.clear();
  await vi.advanceTimersByTimeAsync(16 * 60_000);
  expect(tokenThere()).toBe('token-0');
});

test('goes when nothing there needs it any more, and not before', async () => {
  const { tokens, shares, secrets, objects, handlers } = parts();
  shares.push(share);
  void tokens.run([]);
  await tokens.ensure(spec);
  objects.push({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {},
    spec: { template: { volumes: [{ name: secret }] } },
  });
  shares.pop();
  handlers[0]?.delete?.(share);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(secrets.size).toBe(1);
  objects.pop();
  await vi.advanceTimersByTimeAsync(16 * 60_000);
  expect(secrets.size).toBe(0);
});

const pod = { volumes: [{ projected: { sources: [{ secret: { name: secret } }] } }] };
test.each<[string, string, object, boolean]>([
  ['a pod of a former template that runs', 'pods', { spec: pod, status: { phase: 'Running' } }, true],
  ['one that has ended', 'pods', { spec: pod, status: { phase: 'Failed' } }, false],
  ['a ReplicaSet that makes such', 'replicasets', { spec: { replicas: 1, template: { spec: pod } } }, true],
  ['one of the history', 'replicasets', { spec: { replicas: 0, template: { spec: pod } } }, false],
  ['a Job that has not ended', 'jobs', { spec: { template: { spec: pod } }, status: {} }, true],
  ['a Job that has', 'jobs', { spec: { template: { spec: pod } }, status: { completionTime: 'x' } }, false],
  ['a pod of another account', 'pods', { spec: { volumes: [{ name: 'x' }] } }, false],
])('while there is %s', async (_what, resource, object, isKept) => {
  const { tokens, secrets, handlers, made, given, tokenThere } = parts();
  void tokens.run([]);
  await tokens.ensure(spec);
  made.set(resource, [object as KubeObject]);
  handlers[0]?.delete?.(share);
  await vi.advanceTimersByTimeAsync(11 * hour);
  expect(secrets.size).toBe(isKept ? 1 : 0);
  if (!isKept) return;
  await vi.advanceTimersByTimeAsync(2 * hour);
  expect([tokenThere(), given.length]).toEqual(['token-1', 2]);
  made.clear();
  await vi.advanceTimersByTimeAsync(16 * 60_000);
  expect(secrets.size).toBe(0);
});

test('is made again where somebody else vouches for the server', async () => {
  const { tokens, given } = parts();
  await tokens.ensure(spec);
  const other = { ...spec, account: { name: 'robot', uid: 'u', authority: 'other', secret } };
  await tokens.ensure(other);
  await tokens.ensure(other);
  expect(given.length).toBe(2);
});

test('what is not ours is never touched', async () => {
  const { tokens, secrets } = parts();
  const theirs: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'there', name: secret },
  };
  secrets.set(`there/${secret}`, theirs);
  await expect(tokens.ensure(spec)).rejects.toMatchObject({ reason: 'NotOwned' });
  expect([...secrets.values()]).toEqual([theirs]);
  expect(isAccountToken({ uid: 'me', former: new Set() }, theirs)).toBe(false);
});
