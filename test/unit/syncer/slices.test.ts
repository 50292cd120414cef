import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { FakePhysical } from './fake-physical.ts';
import { configMap, keys, logical, namespace, placementKey, run, Upstream, until } from './world.ts';

let upstream: Upstream;
let running: ReturnType<typeof run>;

beforeEach(async () => {
  upstream = await Upstream.make('east');
  running = run(upstream, new FakePhysical());
});
afterEach(() => running.stop());

/** The splitter drops what was said before the share was told to leave, then tells it; in one step or in two. */
test.each([1, 2])('what was said too early, and was dropped in %i writes, is said again', async (writes) => {
  const [root, ref] = configMap('settings');
  await upstream.place(root, ref, { east: { phase: 'Active' } });
  await until('present', async () => (await upstream.slice(ref))?.present);
  await upstream.remove(keys.object(ref, logical, namespace));
  await until('absent', async () => (await upstream.slice(ref))?.present === false);
  const placement = (await upstream.read<Placement>(placementKey(ref))) as Placement;
  const dropped = { ...placement, status: { clusters: {} } };
  if (writes === 2) await upstream.write(placementKey(ref), dropped);
  const { ref: about, clusters = [] } = placement.spec ?? { ref };
  const shares = { east: { phase: 'Leaving' as const } };
  await upstream.write(placementKey(ref), { ...dropped, spec: { ref: about, clusters, shares } });
  await until('absent again', async () => (await upstream.slice(ref))?.present === false);
  expect(await upstream.slice(ref)).toEqual({ present: false });
});
