import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { locatorAnnotation } from '../../../cluster/names.ts';
import { deployment, resources, until } from '../../world/objects.ts';
import { active, configMap, namespace } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { configmaps, deployments } = resources;
const sides = Sides.forEach();

describe('a syncer that starts again', () => {
  test('deletes nothing that is wanted, and removes what was dropped meanwhile', async () => {
    const { upstream, physical } = sides;
    const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const refs = await Promise.all(names.map((name) => upstream.place(configMap(name), { east: active })));
    sides.start();
    for (const name of names) await sides.untilThere(configmaps, name);
    await sides.stop();
    const before = physical.writes().length;
    await upstream.unplace(refs[7]!);
    sides.start();
    await until('orphan gone', async () => !(await sides.there(configmaps, 'c7')));
    await upstream.place(configMap('extra'), { east: active });
    await sides.untilThere(configmaps, 'extra');
    const since = physical.writes().slice(before);
    expect(since.filter(({ method }) => method === 'DELETE')).toEqual([
      { method: 'DELETE', path: sides.path(configmaps, 'c7') },
    ]);
  });

  test('tells what the former one, killed between apply and slice, did not', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(deployment('web', 4), { east: active });
    const applied = new Promise<void>((resolve) => {
      physical.faults.intercept = ({ method }) => {
        if (method === 'PATCH') resolve();
      };
    });
    sides.start();
    await applied;
    await sides.stop();
    sides.start();
    await sides.untilThere(deployments, 'web');
    await physical.roll(upstream.home, 'web', 4);
    await until('told', async () => (await upstream.slice(ref))?.observedGeneration === 1);
  });
});

test('a partition keeps everything, and what changed meanwhile is done after it', async () => {
  const { upstream, physical } = sides;
  await upstream.place(configMap('settings'), { east: active });
  sides.start();
  await sides.untilThere(configmaps, 'settings');
  const ready = async () => (await upstream.cluster()).status?.conditions?.[0]?.status;
  await until('ready', async () => (await ready()) === 'True');
  physical.faults.intercept = () => {
    throw new TransportError('ECONNRESET', 'the connection was reset');
  };
  await until('not ready', async () => (await ready()) === 'False');
  await upstream.admin.patch(configmaps, { namespace, name: 'settings' }, 'merge', { data: { a: 'new' } });
  await until('tried', () => sides.written('PATCH').length > 1);
  expect((await sides.there(configmaps, 'settings'))?.['data']).toEqual({ a: 'b' });
  physical.faults.intercept = () => {};
  await until('ready again', async () => (await ready()) === 'True');
  await until('new', async () => {
    const found = await sides.there(configmaps, 'settings');
    return (found?.['data'] as { a?: string } | undefined)?.a === 'new';
  });
  expect(sides.written('DELETE')).toEqual([]);
});

test('an object made anew replaces the former one', async () => {
  const { upstream } = sides;
  const former = await upstream.place(configMap('settings'), { east: active });
  sides.start();
  await sides.untilThere(configmaps, 'settings');
  await upstream.remove(former);
  await upstream.unplace(former);
  const ref = await upstream.place(configMap('settings'), { east: active });
  await until('second', async () => {
    const found = await sides.there(configmaps, 'settings');
    return found?.metadata.annotations?.[locatorAnnotation]?.includes(ref.uid);
  });
  await until('slice', async () => {
    const slice = await upstream.slice(ref);
    return slice?.present && !slice.error;
  });
});
