import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { encodeJson } from '../../../kube/json.ts';
import { silentLogger } from '../../../kube/log.ts';
import { joinsEmpty } from '../../../syncer/empty.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

/** An API that has one object of the resources that end like this, and forbids, or fails at, those. */
function api({ has, forbids, fails }: { has?: string; forbids?: string; fails?: string }) {
  const asked: string[] = [];
  const client = new Client(async ({ url }) => {
    const [path = ''] = url.split('?');
    asked.push(path);
    const items = has !== undefined && path.endsWith(has) ? [{ metadata: { name: 'one' } }] : [];
    const code =
      forbids !== undefined && path.endsWith(forbids) ? 403 : fails && path.endsWith(fails) ? 500 : 200;
    const reason = code === 403 ? 'Forbidden' : 'InternalError';
    const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code };
    const list = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
    return { status: code, headers: {}, body: Buffer.from(encodeJson(code === 200 ? list : failure)) };
  });
  return { client, asked };
}

interface World {
  shares?: number;
  there?: Parameters<typeof api>[0];
  shown?: Parameters<typeof api>[0];
  isRestored?: boolean;
}

async function joined({ shares = 0, there = {}, shown = {}, isRestored = false }: World) {
  const life = new AbortController();
  const physical = api(there);
  const is = await joinsEmpty({
    client: physical.client,
    upstream: api(shown).client,
    shares: { synced: Promise.resolve(), size: shares } as Informer<ShareView>,
    unreadable: new Unreadable(() => undefined),
    uid: 'u',
    firstMeeting: async () => (isRestored ? async () => undefined : undefined),
    signal: life.signal,
    logger: silentLogger,
  });
  life.abort(new Error('done'));
  return { is, asked: physical.asked };
}

test('a cluster joins empty that has nothing of ours; of every kind it was asked', async () => {
  const { is, asked } = await joined({});
  expect(is).toBe(true);
  expect(asked).toContain('/apis/apps/v1/deployments');
  expect(asked.length).toBeGreaterThan(15);
});

test.each<[string, World]>([
  ['something is to be there', { shares: 1 }],
  ['a namespace bears our label', { there: { has: '/namespaces' } }],
  ['Namespaces may not be read', { there: { forbids: '/namespaces' } }],
  ['Namespaces are not told', { there: { fails: '/namespaces' } }],
  ['something bears our label', { there: { has: '/secrets' } }],
  ['a kind may not be read', { there: { forbids: '/secrets' } }],
  ['one of its pods is shown', { shown: { has: '/pods' } }],
  ['one of its nodes is shown', { shown: { has: '/nodes' } }],
  ['it is not known what is shown', { shown: { fails: '/jobs' } }],
  ['a backup was restored since it was met', { isRestored: true }],
])('it does not where %s', async (_, world) => {
  expect((await joined(world)).is).toBe(false);
});
