import { describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { carryOwners, ownersThere } from '../../../syncer/given-owners.ts';
import { Owners } from '../../../syncer/owners.ts';
import type { Physical } from '../../../syncer/physical.ts';

const { signal } = new AbortController();
const namespace = 'shop-12345678';
const home = { name: namespace, locator: { cluster: 'one', namespace: 'shop', uid: 'n' } };
const owner: OwnerReference = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'web',
  uid: 'here',
  blockOwnerDeletion: true,
};
const locator = {
  syncer: 's',
  cluster: 'one',
  namespace: 'shop',
  resource: 'deployments.apps',
  name: 'web',
  uid: 'here',
};

const deployment = (of: object = locator): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace,
    uid: 'there',
    annotations: { 'atoll.dev/locator': JSON.stringify(of) },
  },
});
const answer = (body: unknown, status = 200): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});
const refusal = (code: number, reason: string) =>
  answer(
    {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code,
      reason,
      message: reason,
      details: { name: 'web' },
    },
    code,
  );

describe('an owner that is asked for where a pod runs', () => {
  const ask = async (of: OwnerReference, answered: ApiResponse) => {
    const asked: string[] = [];
    const transport = async ({ url }: ApiRequest) => {
      asked.push(url);
      return answered;
    };
    return { found: await ownersThere({ transport, uid: 's' }, home, [of], signal), asked };
  };

  test('is there under another uid', async () => {
    expect(await ask(owner, answer(deployment()))).toEqual({
      found: [{ ...owner, uid: 'there' }],
      asked: [`/apis/apps/v1/namespaces/${namespace}/deployments/web`],
    });
  });

  test('is asked for with the others at once: many hold nobody up for longer than one', async () => {
    const owners = Array.from({ length: 16 }, (_, i) => ({ ...owner, name: `web-${i}`, uid: `here-${i}` }));
    const waiting: (() => void)[] = [];
    const transport = async ({ url }: ApiRequest) => {
      await new Promise<void>((go) => {
        waiting.push(go);
        if (waiting.length === owners.length) for (const next of waiting) next();
      });
      const name = url.split('/').at(-1) ?? '';
      const made = deployment({ ...locator, name, uid: name.replace('web', 'here') });
      return answer({ ...made, metadata: { ...made.metadata, name, uid: name.replace('web', 'there') } });
    };
    const found = await ownersThere({ transport, uid: 's' }, home, owners, signal);
    expect(found.map(({ uid }) => uid)).toEqual(owners.map(({ uid }) => uid.replace('here', 'there')));
  });

  test.each([
    ['another object of that name', { ...locator, uid: 'another' }],
    ['made by another syncer', { ...locator, syncer: 'else' }],
    ['of another namespace', { ...locator, namespace: 'else' }],
    ['of another kind', { ...locator, resource: 'replicasets.apps' }],
    ['the copy of another name', { ...locator, name: 'api' }],
    ['nobody’s', {}],
  ])('is none that is %s', async (_, of) => {
    expect((await ask(owner, answer(deployment(of)))).found).toEqual([]);
  });

  test.each([
    ['not there', refusal(404, 'NotFound')],
    ['not to be read', refusal(403, 'Forbidden')],
  ])('is none that is %s', async (_, answered) => {
    expect((await ask(owner, answered)).found).toEqual([]);
  });

  test.each(['..', '.', '../../../../api/v1/namespaces/else', 'a%2Fb'])(
    'is not asked for by the name %s',
    async (name) => {
      expect(await ask({ ...owner, name }, answer(deployment()))).toEqual({ found: [], asked: [] });
    },
  );

  test.each([
    { ...owner, kind: 'Role', apiVersion: 'rbac.authorization.k8s.io/v1' },
    { ...owner, apiVersion: 'example.com/v1' },
  ])('is of no kind that is not placed: $kind of $apiVersion', async (of) => {
    expect(await ask(of, answer(deployment()))).toEqual({ found: [], asked: [] });
  });
});

interface Found {
  found: KubeObject;
  now: KubeObject | null;
  answered: ApiResponse;
}

describe('an owner that is noted on a pod there', () => {
  const controller = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web-5d',
    uid: 'rs',
    controller: true,
  };
  const pod = (note: unknown, more: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-1',
      namespace,
      uid: 'p',
      resourceVersion: '7',
      annotations: { 'atoll.dev/given-owners': typeof note === 'string' ? note : JSON.stringify(note) },
      ownerReferences: [controller],
      ...more,
    },
  });
  /** `found`: what the cache has; `now`: what the cluster has. */
  const carry = async (
    of: KubeObject,
    { found = deployment(), now = found, answered = answer({}) }: Partial<Found> = {},
  ) => {
    const sent: object[] = [];
    const client = new Client(async ({ url, body }: ApiRequest) => {
      sent.push({ url, body: JSON.parse(Buffer.from(body ?? new Uint8Array()).toString()) });
      return answered;
    });
    const owners = new Owners({
      physical: { cached: () => found, read: async () => now ?? undefined } as unknown as Physical,
      syncer: 's',
      former: new Set(['former']),
      ruled: () => [],
    } as unknown as ConstructorParameters<typeof Owners>[0]);
    await carryOwners({ client, signal, logger } as unknown as Engine, owners, of);
    return sent;
  };
  const ownerReferences = [{ ...owner, uid: 'there' }];
  const patch = {
    url: `/api/v1/namespaces/${namespace}/pods/web-1`,
    body: { metadata: { uid: 'p', resourceVersion: '7', ownerReferences } },
  };

  test('owns that very version of it once it is there', async () => {
    expect(await carry(pod([owner]))).toEqual([patch]);
    const former = deployment({ ...locator, syncer: 'former' });
    expect(await carry(pod([owner]), { found: former })).toEqual([patch]);
  });

  test.each([
    ['owns it already', pod([owner], { ownerReferences: [controller, ...ownerReferences] }), deployment()],
    ['is another object of that name', pod([owner]), deployment({ ...locator, uid: 'another' })],
    ['is another syncer’s', pod([owner]), deployment({ ...locator, syncer: 'else' })],
    ['would control it', pod([{ ...owner, controller: true }]), deployment()],
    ['makes no sense', pod([{ ...owner, name: undefined }, 7, null]), deployment()],
    ['is no list', pod({ owner }), deployment()],
    ['is no JSON', pod('[{'), deployment()],
    ['is of a pod that is going', pod([owner], { deletionTimestamp: '2026-01-01T00:00:00Z' }), deployment()],
  ])('is left alone where it %s', async (_, of, found) => {
    expect(await carry(of, { found })).toEqual([]);
  });

  const { metadata, ...rest } = deployment();
  const going = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  test.each<[string, Partial<Found>]>([
    ['is going', { found: going }],
    ['is going, and the cache is behind', { now: going }],
    ['has gone, and the cache is behind', { now: null }],
    ['is another one by now', { now: { ...rest, metadata: { ...metadata, uid: 'other' } } }],
  ])('does not get it back where it %s', async (_, has) => {
    expect(await carry(pod([owner]), has)).toEqual([]);
  });

  test.each([
    [409, 'Conflict'],
    [404, 'NotFound'],
    [403, 'Forbidden'],
  ])('holds nothing up where the cluster answers %i %s', async (code, reason) => {
    expect(await carry(pod([owner]), { answered: refusal(code, reason) })).toEqual([patch]);
  });
});
