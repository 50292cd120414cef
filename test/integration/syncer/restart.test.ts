import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { ObjectRef } from '../../../cluster/types.ts';
import { numberAt } from '../../../kube/untyped.ts';
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

describe('what is there as it was applied', () => {
  const places = async () => {
    const { upstream, physical } = sides;
    const web = await upstream.place(deployment('web', 4), { east: active });
    const settings = await upstream.place(configMap('settings'), { east: active });
    sides.start();
    for (const [resource, name] of [
      [deployments, 'web'],
      [configmaps, 'settings'],
    ] as const)
      await sides.untilThere(resource, name);
    await physical.roll(upstream.home, 'web', 4);
    const isTold = async (ref: typeof web) => (await upstream.slice(ref))?.applied !== undefined;
    await until('both are told of', async () => (await isTold(web)) && (await isTold(settings)));
    await sides.stop();
    return { web, settings };
  };
  /** The paths of what a syncer writes there that starts now, until what it is given last is there. */
  const writtenAnew = async (): Promise<string[]> => {
    const { upstream, physical } = sides;
    const before = physical.writes().length;
    await sides.start().ready;
    await upstream.place(configMap('last'), { east: active });
    await sides.untilThere(configmaps, 'last');
    const last = sides.path(configmaps, 'last');
    return physical.writes().flatMap(({ path }, i) => (i < before || path === last ? [] : [path]));
  };
  const [web, settings] = [() => sides.path(deployments, 'web'), () => sides.path(configmaps, 'settings')];
  const at = (name: string) => ({ namespace: sides.upstream.home, name });

  test('is not applied again by a syncer that starts, nor told of', async () => {
    const refs = await places();
    const { upstream } = sides;
    const versions = async () => {
      const { items } = await upstream.admin.list(resources.placements, { namespace });
      const of = (name: string) =>
        items.find(({ metadata }) => metadata.name === name)?.metadata.resourceVersion;
      return [of('web.deployments.apps'), of('settings.configmaps')];
    };
    const before = await versions();
    expect(before).not.toContain(undefined);
    expect(await upstream.slice(refs.web)).toMatchObject({ present: true, observedGeneration: 1 });
    expect(await writtenAnew()).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  test.each<[string, (settings: ObjectRef) => Promise<unknown>, () => string[]]>([
    [
      'somebody scaled it',
      () => sides.physical.client.patch(deployments, at('web'), 'merge', { spec: { replicas: 9 } }),
      () => [web()],
    ],
    [
      'somebody changed its data',
      () => sides.physical.client.patch(configmaps, at('settings'), 'merge', { data: { a: 'other' } }),
      () => [settings()],
    ],
    [
      'it bears a label more: the former syncer may have put it there, and died before it told',
      () =>
        sides.physical.client.patch(configmaps, at('settings'), 'merge', {
          metadata: { labels: { x: 'y' } },
        }),
      () => [settings()],
    ],
    [
      'somebody deleted it',
      () => sides.physical.client.delete(configmaps, at('settings')),
      () => [settings()],
    ],
    [
      'something else is wanted',
      () =>
        sides.upstream.admin.patch(configmaps, { namespace, name: 'settings' }, 'merge', {
          data: { a: 'new' },
        }),
      () => [settings()],
    ],
    [
      'it was written by a syncer that says it otherwise',
      (ref) => sides.upstream.say(ref, { present: true, applied: 'otherwise' }),
      () => [settings()],
    ],
    [
      'a former version said nothing of it',
      (ref) => sides.upstream.say(ref, { present: true }),
      () => [settings()],
    ],
  ])('is applied again where %s meanwhile', async (_what, change, expected) => {
    const refs = await places();
    await change(refs.settings);
    expect(await writtenAnew()).toEqual(expected());
    await until('as wanted', async () => {
      const [set, map] = [await sides.there(deployments, 'web'), await sides.there(configmaps, 'settings')];
      const { items } = await sides.upstream.admin.list(configmaps, { namespace });
      const wanted = items.find(({ metadata }) => metadata.name === 'settings')?.['data'];
      const isWanted = JSON.stringify(map?.['data']) === JSON.stringify(wanted);
      return isWanted && numberAt(set, 'spec', 'replicas') === 4;
    });
    await until(
      'told for the next one',
      async () => (await sides.upstream.slice(refs.settings))?.applied?.length === 20,
    );
  });
});

test('a partition keeps everything, and what changed meanwhile is done after it', async () => {
  const { upstream, physical } = sides;
  await upstream.place(configMap('settings'), { east: active });
  sides.start();
  await sides.untilThere(configmaps, 'settings');
  const ready = async () => (await upstream.cluster()).status?.conditions?.[0]?.status;
  await until('ready', async () => (await ready()) === 'True');
  let tried = 0;
  physical.faults.intercept = () => {
    tried += 1;
    throw new TransportError('ECONNRESET', 'the connection was reset');
  };
  await until('not ready', async () => (await ready()) === 'False');
  await upstream.admin.patch(configmaps, { namespace, name: 'settings' }, 'merge', { data: { a: 'new' } });
  const before = tried;
  // Who answers is asked first: what is to be written is not sent before that is known.
  await until('tried', () => tried > before + 3);
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
