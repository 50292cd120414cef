import { afterEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { Transport } from '../../../kube/http.ts';
import { encodeJson } from '../../../kube/json.ts';
import { textAt } from '../../../kube/untyped.ts';
import { deployment, find, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, persistentvolumeclaims, placements, statefulsets } = resources;
const inDefault = { namespace: 'default' };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

let world: World;
let begins = false;
let over = () => {};
afterEach(async () => {
  over();
  begins = false;
  await world.stop();
});

const forbidden = {
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  reason: 'Forbidden',
  code: 403,
  message: 'nobody may',
};

/** Reads of one resource, watches and lists across logical clusters left out, do not end or are refused. */
function unreadable(resource: string, how: 'hangs' | 'fails') {
  return (transport: Transport): Transport =>
    async (request) => {
      const [path = '', query = ''] = request.url.split('?');
      const isRead = request.method === 'GET' && !/watch=(true|1)/.test(query);
      if (!begins || !isRead || !path.includes('/default') || !path.split('/').includes(resource))
        return await transport(request);
      if (how === 'fails') return { status: 403, headers: {}, body: Buffer.from(encodeJson(forbidden)) };
      await new Promise<void>((resolve) => {
        over = resolve;
      });
      return await transport(request);
    };
}

const specOf = async (name: string) => (await find<Placement>(world.admin, placements, name))?.spec;

test.each([
  ['persistentvolumeclaims', 'hangs', /persistentvolumeclaims: no answer within 5 s$/],
  ['statefulsets', 'fails', /statefulsets.apps: nobody may$/],
] as const)('what uses no data is decided about while a read of %s %s', async (resource, how, why) => {
  world = await startWorld({ controllersWire: unreadable(resource, how) });
  const set = statefulSet('db', 1);
  const annotations = { 'atoll.dev/clusters': 'east', 'atoll.dev/volumes': 'recreate' };
  const template = { metadata: { name: 'data' }, spec: claimSpec };
  const spec = { ...(set.spec as object), volumeClaimTemplates: [template] };
  await world.admin.create(
    statefulsets,
    { ...set, metadata: { ...set.metadata, annotations }, spec },
    inDefault,
  );
  await settled(world.admin, 'db.statefulsets.apps');
  await until('its claim is shown', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.some((claim) => textAt(claim, 'status', 'phase') === 'Bound');
  });
  begins = true;
  const west = { metadata: { annotations: { 'atoll.dev/clusters': 'west' } } };
  await world.admin.patch(statefulsets, { ...inDefault, name: 'db' }, 'merge', west);
  const web = deployment('web', 1);
  await world.admin.create(
    deployments,
    { ...web, metadata: { ...web.metadata, ...west.metadata } },
    inDefault,
  );
  await settled(world.admin, 'web.deployments.apps');
  expect((await specOf('web.deployments.apps'))?.clusters).toEqual(['west']);
  expect(await specOf('db.statefulsets.apps')).toMatchObject({
    clusters: ['east'],
    blocked: true,
    reasons: { east: expect.stringMatching(why), west: expect.stringMatching(why) },
  });
  begins = false;
  over();
  await until(
    'the set moves',
    async () => (await specOf('db.statefulsets.apps'))?.clusters.join() === 'west',
  );
  await settled(world.admin, 'db.statefulsets.apps');
});
