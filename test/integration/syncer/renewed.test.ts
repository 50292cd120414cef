import { expect, test } from 'vitest';
import { deployment, resources, until } from '../../world/objects.ts';
import { active, leaving } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const sides = Sides.forEach();
const web = deployment('web', 1);

/** It runs, with a pod that takes its time to end. */
async function running() {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  const of = await sides.untilThere(resources.deployments, 'web');
  const set = await physical.child('ReplicaSet', 'web-5d', { of });
  await physical.child('Pod', 'web-1', { of: set, node: 'node-1' });
  await until('its pod is seen', async () => (await upstream.slice(ref))?.present);
  return ref;
}

test.each(['before it is told to go', 'while it waits for its pods'])(
  'what is made anew %s has left as soon as it is gone itself',
  async (when) => {
    const { upstream } = sides;
    const ref = await running();
    await upstream.remove(ref);
    if (when === 'before it is told to go') await upstream.make(web);
    await upstream.shares(ref, { east: leaving });
    const isGoing = async () => (await sides.there(resources.pods, 'web-1'))?.metadata.deletionTimestamp;
    await until('its pod goes', isGoing);
    if (when !== 'before it is told to go') await upstream.make(web);
    await until('it has left', async () => (await upstream.slice(ref))?.present === false);
    expect(await isGoing()).toBeDefined();
    expect(await sides.there(resources.deployments, 'web')).toBeUndefined();
  },
);
