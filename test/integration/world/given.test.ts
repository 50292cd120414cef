import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { ResourceRef } from '../../../client/url.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, move, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
let east: Client;
beforeAll(async () => {
  world = await startWorld();
  east = world.physical('east').client;
});
afterAll(() => world.stop());

const inDefault = { namespace: 'default' };
const controllerrevisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' };
const cronjobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const ofKind = { ...resources, controllerrevisions };

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };
const cronJob = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'labelled-jobs', annotations: { 'atoll.dev/clusters': 'east' } },
  spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
};

const workloads: [keyof typeof ofKind, () => Promise<void>][] = [
  ['replicasets', () => run('labelled-replicasets')],
  [
    'controllerrevisions',
    async () => {
      await world.admin.create(
        resources.statefulsets,
        statefulSet('labelled-controllerrevisions', 1, 'east'),
      );
      const of = { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 1, data: {} };
      await madeThere(controllerrevisions, resources.statefulsets, of);
    },
  ],
  [
    'jobs',
    async () => {
      await world.admin.create(cronjobs, cronJob, inDefault);
      const spec = { suspend: true, template };
      await madeThere(resources.jobs, cronjobs, { apiVersion: 'batch/v1', kind: 'Job', spec });
    },
  ],
];

async function run(name: string): Promise<void> {
  await world.admin.create(resources.deployments, deployment(name, 1, 'east'), inDefault);
  await settled(world.admin, `${name}.deployments.apps`);
}

/** As the owner's controller makes it, which the simulated cluster has not. */
async function madeThere(resource: ResourceRef, owners: ResourceRef, fields: Partial<KubeObject>) {
  const owner = `labelled-${resource.resource}`;
  const made = await until('its owner is there', async () =>
    (await east.list(owners)).items.find(({ metadata }) => metadata.name === owner),
  );
  const { namespace = '', name = '', uid = '' } = made.metadata;
  const ownerReferences = [{ apiVersion: made.apiVersion, kind: made.kind, name, uid, controller: true }];
  const metadata = { name: `${name}-1`, namespace, labels: { app: name }, ownerReferences };
  await east.create(resource, { ...fields, metadata } as KubeObject);
}

/** The one on east says something else of itself, which is seen here. */
async function tell(
  resource: ResourceRef,
  name: string,
  labels: { theirs: string | null; [label: string]: string | null },
) {
  const { items } = await east.list(resource);
  const there = items.find(({ metadata }) => metadata.name === name);
  const at = { namespace: there?.metadata.namespace, name };
  await east.patch(resource, at, 'merge', { metadata: { labels } });
  return await until('it is seen', async () => {
    const { metadata } = await world.admin.get(resource, { ...inDefault, name });
    return metadata.labels?.['theirs'] === (labels.theirs ?? undefined) ? metadata : undefined;
  });
}

test.each(workloads)(
  "labels and annotations that a user gives reflected %s stay beside their cluster's",
  async (kind, start) => {
    await start();
    const resource = ofKind[kind];
    const app = `labelled-${kind}`;
    const seen = await until('it is seen', async () => {
      const { items } = await world.admin.list(resource, { ...inDefault, labelSelector: `app=${app}` });
      return items[0];
    });
    const { name = '' } = seen.metadata;
    const at = { ...inDefault, name };
    const patch = (metadata: object) => world.admin.patch(resource, at, 'merge', { metadata });
    const apply = (labels: object) => {
      const body = { apiVersion: seen.apiVersion, kind: seen.kind, metadata: { name, labels } };
      return world.admin.patch(resource, at, 'apply', body, { fieldManager: 'applier' });
    };
    const { labels: first } = await tell(resource, name, { theirs: 'x', both: 'x', lost: 'x' });
    expect(first).toMatchObject({ app, theirs: 'x', both: 'x', lost: 'x' });
    await patch({
      labels: { mine: 'a', gone: 'b', both: 'c', lost: null },
      annotations: { 'my.org/note': 'd' },
    });
    await apply({ applied: 'e' });
    await patch({ labels: { gone: null } });
    const given = await tell(resource, name, { theirs: 'y' });
    expect(given.labels).toMatchObject({ app, mine: 'a', both: 'c', applied: 'e', theirs: 'y' });
    expect(given.labels).not.toHaveProperty('gone');
    expect(given.labels).not.toHaveProperty('lost');
    expect(given.annotations).toMatchObject({ 'my.org/note': 'd' });
    await apply({});
    await patch({ annotations: { 'my.org/note': null } });
    const then = await tell(resource, name, { theirs: null, both: 'z', lost: 'z' });
    // The last word counts, whoever's it is.
    expect(then.labels).toMatchObject({ app, mine: 'a', both: 'z', lost: 'z' });
    expect(then.labels).not.toHaveProperty('applied');
    expect(then.annotations).not.toHaveProperty('my.org/note');
  },
);

test('what a user gave a ReplicaSet stays while its Deployment moves away and back', async () => {
  const name = 'moved';
  await run(name);
  const sets = async () =>
    (await world.admin.list(resources.replicasets, { ...inDefault, labelSelector: `app=${name}` })).items;
  const [set] = await sets();
  const at = { ...inDefault, name: set?.metadata.name ?? '' };
  await world.admin.patch(resources.replicasets, at, 'merge', { metadata: { labels: { mine: 'a' } } });
  for (const to of ['west', 'east']) {
    await move(world.admin, resources.deployments, name, to);
    await until(`it is seen on ${to} alone`, async () => {
      const [now] = await sets();
      return now?.metadata.annotations?.['atoll.dev/physical-cluster'] === to;
    });
    expect((await sets())[0]?.metadata.labels).toMatchObject({ app: name, mine: 'a' });
  }
});
