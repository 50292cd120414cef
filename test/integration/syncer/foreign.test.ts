import { describe, expect, test } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { Locator } from '../../../cluster/types.ts';
import { resources, until } from '../../world/objects.ts';
import { active, configMap, leaving } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { configmaps, namespaces, secrets } = resources;
const sides = Sides.forEach();

/** What an annotation may say in place of our locator. */
const annotations: Record<string, (locator: Locator) => string | null> = {
  'no locator': () => null,
  'a garbled one': () => '{"syncer":',
  "another syncer's": (locator) => JSON.stringify({ ...locator, syncer: 'of another cluster' }),
  "another object's": (locator) => JSON.stringify({ ...locator, name: 'x' }),
};

describe('what is not ours', () => {
  test.each(Object.entries(annotations))(
    'is neither written nor deleted: an object with %s',
    async (_, forge) => {
      const { upstream, physical } = sides;
      const ref = await upstream.place(configMap('settings'), { east: active });
      sides.start();
      const made = await sides.untilThere(configmaps, 'settings');
      await sides.stop();
      const locator = JSON.parse(made.metadata.annotations?.[locatorAnnotation] ?? '') as Locator;
      const foreign = await physical.client.patch(
        configmaps,
        { namespace: upstream.home, name: 'settings' },
        'merge',
        { metadata: { annotations: { [locatorAnnotation]: forge(locator) } }, data: { theirs: 'yes' } },
      );
      const before = physical.writes().length;
      sides.start();
      await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned');
      await upstream.shares(ref, { east: leaving });
      await until('absent', async () => {
        const slice = await upstream.slice(ref);
        return slice?.present === false && !slice.error;
      });
      await upstream.shares(ref, {});
      await upstream.place(configMap('other'), { east: active });
      await sides.untilThere(configmaps, 'other');
      expect(await sides.there(configmaps, 'settings')).toEqual(foreign);
      const since = physical.writes().slice(before);
      expect(since.filter(({ path }) => path.endsWith('/settings'))).toEqual([]);
    },
  );

  test('stays as it is: an object that was there first, though nothing in it contradicts', async () => {
    const { upstream, physical } = sides;
    await upstream.place(configMap('other'), { east: active });
    sides.start();
    await sides.untilThere(configmaps, 'other');
    const {
      upstream: { home },
    } = sides;
    const metadata = { name: 'settings', namespace: home };
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { theirs: 'yes' } };
    const foreign = await physical.client.create(configmaps, theirs);
    const ref = await upstream.place(configMap('settings'), { east: active });
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned');
    expect(await sides.there(configmaps, 'settings')).toEqual(foreign);
  });

  test('is not used: a namespace of the same name', async () => {
    const { upstream, physical } = sides;
    const theirs = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: upstream.home } };
    await physical.client.create(namespaces, theirs);
    const ref = await upstream.place(configMap('settings'), { east: active });
    sides.start();
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned');
    expect([...sides.written('PATCH'), ...sides.written('DELETE')]).toEqual([]);
  });

  test('keeps our namespace, whatever of ours goes', async () => {
    const { upstream, physical } = sides;
    const ref = await upstream.place(configMap('settings'), { east: active });
    sides.start();
    await sides.untilThere(configmaps, 'settings');
    const metadata = { name: 'theirs', namespace: upstream.home };
    await physical.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata });
    await upstream.unplace(ref);
    await until('object gone', async () => !(await sides.there(configmaps, 'settings')));
    const looks = `GET /api/v1/namespaces/${upstream.home}/secrets?`;
    await until('looked', () => physical.faults.requests.some((line) => line.startsWith(looks)));
    // What follows from the look has happened by the time that something else has come.
    await upstream.place(configMap('other'), { east: active });
    await sides.untilThere(configmaps, 'other');
    expect(sides.written('DELETE')).toEqual([sides.path(configmaps, 'settings')]);
    expect(await sides.there(secrets, 'theirs')).toBeDefined();
  });
});
