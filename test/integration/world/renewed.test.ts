import { afterEach, beforeEach, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { at, numberAt } from '../../../kube/untyped.ts';
import { deployment, isReady, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, jobs, placements } = resources;
const cronjobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const namespace = 'default';
const spec = {
  template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } },
};
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

/** A Deployment whose pods run once, a Job and a CronJob. */
function app(clusters: string): [typeof cronjobs, KubeObject][] {
  const metadata = (name: string) => ({ name, namespace, annotations: { 'atoll.dev/clusters': clusters } });
  const web = deployment('web', 2, clusters);
  const strategy = { type: 'Recreate' };
  const cron = { schedule: '0 0 1 1 *', jobTemplate: { spec } };
  return [
    [deployments, { ...web, spec: { ...(web.spec as object), strategy } }],
    [jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: metadata('once'), spec }],
    [cronjobs, { apiVersion: 'batch/v1', kind: 'CronJob', metadata: metadata('often'), spec: cron }],
  ];
}

async function runs(where: string): Promise<void> {
  const { admin } = world;
  const status = async (of: typeof cronjobs, name: string) =>
    (await admin.get<KubeObject>(of, { namespace, name })).status;
  await until('the Deployment is ready', async () => {
    return numberAt(await status(deployments, 'web'), 'readyReplicas') === 2;
  });
  await until('the Job is complete', async () => numberAt(await status(jobs, 'once'), 'succeeded') === 1);
  await until('the CronJob is not suspended', async () => {
    const { items } = await world.physical(where).client.list<KubeObject>(cronjobs);
    return items.length === 1 && at(items[0], 'spec', 'suspend') !== true;
  });
}

test('what is deleted while its cluster is silent, and made anew, runs elsewhere; and the former one goes when that is heard of', async () => {
  const { admin } = world;
  for (const [resource, object] of app('west')) await admin.create(resource, object);
  await runs('west');
  const { faults, client } = world.physical('west');
  faults.silence();
  await until('west is not ready', async () => !(await isReady(admin, 'west')));
  for (const [resource, { metadata }] of app('west')) {
    const { name = '' } = metadata;
    await admin.delete(resource, { namespace, name }, { propagationPolicy: 'Background' });
    const gone = (error: unknown) => isStatusError(error, 'NotFound');
    await until(`${name} is gone`, () => admin.get(resource, { namespace, name }).then(() => false, gone));
  }
  for (const [resource, object] of app('east')) await admin.create(resource, object);
  await runs('east');
  faults.heal();
  await until('nothing is left on west', async () => {
    const left = await Promise.all([deployments, jobs, cronjobs].map((of) => client.list(of)));
    return left.every(({ items }) => items.length === 0);
  });
  await until('no Placement names it', async () => {
    const { items } = await admin.list<Placement>(placements, { namespace });
    return items.every((placement) => placement.spec?.shares?.['west'] === undefined);
  });
  await runs('east');
});
