import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, isReady, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

interface EventFields {
  type?: string;
  reason?: string;
  message?: string;
  involvedObject?: { kind?: string };
}

const { deployments, events, placements, pods } = resources;
const inDefault = { namespace: 'default' };
const web = { ...inDefault, name: 'web' };
const said =
  /^still on west; cluster west has not answered since \S+Z: it goes from there when that answers again$/;
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

test.each(['noticed', 'not noticed yet'])(
  'a deletion in the foreground that waits for a silent cluster says so: %s',
  async (when) => {
    const { admin } = world;
    await admin.create(deployments, deployment('web', 1, 'west'), inDefault);
    await settled(admin, 'web.deployments.apps');
    await until('its pod is shown', async () => (await admin.list(pods, inDefault)).items.length === 1);
    const { faults } = world.physical('west');
    faults.silence();
    if (when === 'noticed') await until('west is not ready', async () => !(await isReady(admin, 'west')));
    await admin.delete(deployments, web, { propagationPolicy: 'Foreground' });
    await until('its Placement says so', async () => {
      const { status } = (await find<Placement>(admin, placements, 'web.deployments.apps')) ?? {};
      return status?.conditions?.some(({ type, message }) => type === 'Settled' && said.test(message ?? ''));
    });
    await until('its Event says so', async () => {
      const { items } = await admin.list<KubeObject & EventFields>(events, inDefault);
      return items.some(({ type, reason, message = '', involvedObject }) => {
        const isSaid = type === 'Warning' && reason === 'ClusterSilent' && said.test(message);
        return isSaid && involvedObject?.kind === 'Deployment';
      });
    });
    expect(await find(admin, deployments, 'web')).toBeDefined();
    faults.heal();
    await until('it is gone', async () => !(await find(admin, deployments, 'web')));
  },
);
