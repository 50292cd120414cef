import { afterEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import {
  deployment,
  find,
  readyPods,
  resources,
  settled,
  statefulSet,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
afterEach(() => world.stop());

const pulls = { scheduledAfterMs: [20, 60], readyAfterMs: [100, 200], stopsAfterMs: [20, 60] } as const;
const fails = { as: 'Waiting', reason: 'ImagePullBackOff', message: 'no such image' } as const;

const surging = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

function using(name: string, image: string) {
  const containers = [{ name: 'c', image, envFrom: [{ configMapRef: { name } }] }];
  return { template: { metadata: { labels: { app: 'web' } }, spec: { containers } } };
}

async function mapsThere(): Promise<string[]> {
  const { items } = await world.physical('west').client.list<KubeObject>(resources.configmaps, {});
  const names = items.map(({ metadata }) => metadata.name ?? '');
  return names.filter((name) => name === 'one' || name === 'two').sort();
}

test('what the running pods use stays until a rollout is done, however long it is stuck', async () => {
  const behaviour = { name: 'bad', match: { image: 'bad' }, ...pulls, fails };
  world = await startWorld({ clusters: ['west'], behaviours: [behaviour as never] });
  const { admin } = world;
  const at = { namespace: 'default' };
  for (const name of ['one', 'two']) {
    await admin.create(resources.configmaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }, at);
  }
  const web = deployment('web', 2, 'west');
  const spec = { ...(web.spec as object), ...using('one', 'good:1') };
  await admin.create(resources.deployments, { ...web, spec }, at);
  await settled(admin, 'web.deployments.apps');
  const change = (name: string, image: string) =>
    admin.patch(resources.deployments, { ...at, name: 'web' }, 'merge', { spec: using(name, image) });
  const required = async () => {
    const placement = await find<Placement>(admin, resources.placements, 'web.deployments.apps');
    return placement?.spec?.requires?.map(({ name }) => name);
  };

  await change('two', 'bad:1');
  await until('a pod of it waits', async () => {
    const { items } = await world.physical('west').client.list<KubeObject>(resources.pods, {});
    return items.some((pod) => JSON.stringify(pod.spec).includes('bad:1'));
  });
  await until('what it names is there', async () => (await mapsThere()).includes('two'));
  expect([await required(), await mapsThere()]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
  await change('two', 'good:2');
  await until('the former is not needed', async () => (await mapsThere()).join() === 'two');
  expect(await required()).toEqual(['two']);
});

test.each([
  ['deployments', deployment('web', 4, 'east,west'), { strategy: surging }, 4],
  ['statefulsets', statefulSet('web', 4, 'east,west'), {}, 3],
] as const)(
  '%s that must not update in two clusters at a time do so in turns',
  async (resource, root, more, least) => {
    world = await startWorld({ clusters: ['east', 'west'] });
    const { admin } = world;
    const at = { namespace: 'default' };
    const kind = resources[resource];
    await admin.create(kind, { ...root, spec: { ...(root.spec as object), ...more } }, at);
    const name = `web.${resource}.apps`;
    const waiting = async () => {
      const { status } = await settled(admin, name);
      return Object.values(status?.clusters ?? {}).filter(({ share }) => share?.paused).length;
    };
    await until('one waits', async () => (await waiting()) === 1);
    for (const round of [1, 2]) {
      const changed = template('web', `web:new-${round}`);
      const { metadata } = await admin.patch(kind, { ...at, name: 'web' }, 'merge', {
        spec: { template: changed },
      });
      let lowest = 4;
      await until('all is new', async () => {
        const pods = await Promise.all(['east', 'west'].map((c) => readyPods(world.physical(c), 'web')));
        lowest = Math.min(lowest, pods.flat().length);
        const now = await admin.get<KubeObject<unknown, Record<string, unknown>>>(kind, {
          ...at,
          name: 'web',
        });
        const { observedGeneration, updatedReplicas, availableReplicas, replicas } = now.status ?? {};
        const progressing = JSON.stringify(now.status?.['conditions'] ?? []);
        expect(progressing).not.toContain('Paused');
        return (
          observedGeneration === metadata.generation &&
          [updatedReplicas, availableReplicas, replicas].every((n) => n === 4)
        );
      });
      expect(lowest).toBeGreaterThanOrEqual(least);
    }
    await until('one waits again', async () => (await waiting()) === 1);
  },
);

test('a cluster that refuses what is applied holds up no other, and waits for its turn when it takes it', async () => {
  world = await startWorld({ clusters: ['east', 'west'] });
  const { admin } = world;
  const at = { namespace: 'default' };
  const web = deployment('web', 4, 'east,west');
  const spec = { ...(web.spec as object), strategy: surging };
  await admin.create(resources.deployments, { ...web, spec }, at);
  const clusters = async () => (await settled(admin, 'web.deployments.apps')).status?.clusters ?? {};
  const waiting = async () =>
    Object.entries(await clusters()).flatMap(([c, s]) => (s.share?.paused ? [c] : []));
  await until('one waits', async () => (await waiting()).length === 1);
  const other = (await waiting())[0] === 'east' ? 'east' : 'west';
  const refuser = other === 'east' ? 'west' : 'east';
  world.physical(refuser).faults.intercept = ({ method, url }) => {
    if (method === 'PATCH' && url.includes('/deployments/'))
      throw new StatusError(403, 'Forbidden', 'not now');
  };
  const changed = { spec: { template: template('web', 'web:new') } };
  await admin.patch(resources.deployments, { ...at, name: 'web' }, 'merge', changed);
  const fresh = async (c: string) => {
    const { items } = await world.physical(c).client.list<KubeObject>(resources.pods, {});
    const isNew = items.map(({ spec }) => JSON.stringify(spec).includes('web:new'));
    return isNew.filter(Boolean).length;
  };
  await until('the other is updated', async () => (await fresh(other)) === 2);
  expect(await fresh(refuser)).toBe(0);
  const placement = await find<Placement>(admin, resources.placements, 'web.deployments.apps');
  expect(JSON.stringify(placement?.status?.conditions)).toContain(`${refuser}: Forbidden: not now`);
  world.physical(refuser).faults.intercept = () => {};
  await until('so is it when it takes it', async () => (await fresh(refuser)) === 2);
});
