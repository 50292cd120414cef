import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { find, readyPods, resources, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterEach(() => world.stop());

const shop = { namespace: 'shop' };
const makeNamespace = () =>
  world.admin.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop' },
  });
const gone = async () => (await find(world.admin, resources.namespaces, 'shop', '')) === undefined;

/** Our namespaces on the physical cluster, and the uids of the claims in each. */
async function physical(): Promise<{ name: string; claims: string[] }[]> {
  const { client } = world.physical('east');
  const { items } = await client.list(resources.namespaces, {
    labelSelector: 'atoll.dev/managed-by=atoll',
  });
  return await Promise.all(
    items.map(async ({ metadata: { name = '' } }) => {
      const claims = await client.list(resources.persistentvolumeclaims, { namespace: name });
      return { name, claims: claims.items.map(({ metadata }) => metadata.uid ?? '') };
    }),
  );
}

function withClaims(set: KubeObject): KubeObject {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  return { ...set, spec: { ...(set.spec as object), volumeClaimTemplates } };
}

async function runSet(): Promise<void> {
  const set = withClaims(statefulSet('db', 2));
  await world.admin.create(resources.statefulsets, { ...set, metadata: { name: 'db', ...shop } }, shop);
  await until('two pods', async () => (await readyPods(world.physical('east'), 'db')).length === 2);
}

describe('a Namespace that is deleted', () => {
  test('takes its physical one along, with the claims of its StatefulSets', async () => {
    await makeNamespace();
    await runSet();
    const before = await physical();
    expect(before).toMatchObject([{ claims: [expect.any(String), expect.any(String)] }]);
    await world.admin.delete(resources.namespaces, { name: 'shop' });
    await until('gone here', gone);
    await until('gone there', async () => (await physical()).length === 0);
  });

  test('and made again has none of what the former one had', async () => {
    await makeNamespace();
    await runSet();
    const [before] = await physical();
    // What is there stays for as long as the cluster can be made to believe.
    world.physical('east').faults.intercept = ({ method, url }) => {
      if (method === 'DELETE' && /\/api\/v1\/namespaces\/[^/]+$/.test(url)) throw new Error('not now');
    };
    await world.admin.delete(resources.namespaces, { name: 'shop' });
    await until('gone here', gone);
    await makeNamespace();
    await runSet();
    const after = (await physical()).find(({ name }) => name !== before?.name);
    expect(after?.claims).toHaveLength(2);
    expect(after?.claims.filter((uid) => before?.claims.includes(uid))).toEqual([]);
    world.physical('east').faults.intercept = () => {};
    await until('the former one is gone there', async () => {
      const names = (await physical()).map(({ name }) => name);
      return names.length === 1 && names[0] === after?.name;
    });
  });

  test('while its cluster was silent goes there when it is heard of again', async () => {
    await makeNamespace();
    await runSet();
    world.physical('east').faults.silence();
    await world.admin.delete(resources.namespaces, { name: 'shop' });
    await until('its set is leaving', async () => {
      const placement = await find<Placement>(
        world.admin,
        resources.placements,
        'db.statefulsets.apps',
        'shop',
      );
      return placement?.spec?.shares?.['east']?.phase === 'Leaving';
    });
    world.physical('east').faults.heal();
    await until('gone here', gone);
    await until('gone there', async () => (await physical()).length === 0);
  });

  test('is gone only when the server says so: no answer is none', async () => {
    await makeNamespace();
    await runSet();
    world.physical('east').upstream.intercept = ({ url }) => {
      if (url.includes('/api/v1/namespaces/shop?uid=')) throw new Error('no answer');
    };
    await world.admin.delete(resources.statefulsets, { name: 'db', ...shop });
    await until('asked', () =>
      world.physical('east').upstream.requests.some((line) => line.includes('/api/v1/namespaces/shop?uid=')),
    );
    expect((await physical())[0]?.claims).toHaveLength(2);
    const asked = world.physical('east').upstream.requests.length;
    world.physical('east').upstream.intercept = () => {};
    await until('answered', () =>
      world
        .physical('east')
        .upstream.requests.slice(asked)
        .some((line) => line.includes('/api/v1/namespaces/shop?uid=')),
    );
    // The Namespace is there, and keeps them.
    expect((await physical())[0]?.claims).toHaveLength(2);
  });
});
