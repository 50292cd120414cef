import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { textAt } from '../../../kube/untyped.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const { jobs } = resources;
const namespace = 'default';
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** As `kubectl create job --from=cronjob/…` does. */
async function byHand(
  name: string,
  { metadata: { name: of = '', uid = '' } }: KubeObject,
): Promise<KubeObject> {
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: of, uid, controller: true };
  const metadata = { name, namespace, ownerReferences: [owner] };
  await world.admin.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } });
  return await until(`${name} has completed`, async () => {
    const job = await world.admin.get(jobs, { namespace, name });
    return textAt(job, 'status', 'completionTime') === undefined ? undefined : job;
  });
}

test('Jobs made of a CronJob by hand count in its history, and say when it last succeeded', async () => {
  const metadata = { name: 'nightly', namespace, annotations: { 'atoll.dev/clusters': 'east' } };
  const spec = { schedule: '0 0 1 1 *', successfulJobsHistoryLimit: 1, jobTemplate: { spec: { template } } };
  const made = await world.admin.create(cronJobs, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec,
  });
  const said = (job: KubeObject) =>
    until('its success is told', async () => {
      const cronJob = await world.admin.get(cronJobs, { namespace, name: 'nightly' });
      const time = textAt(cronJob, 'status', 'lastSuccessfulTime');
      return time === textAt(job, 'status', 'completionTime');
    });
  await said(await byHand('first', made));
  await said(await byHand('second', made));
  await until('the older one is gone', async () => {
    const { items } = await world.admin.list(jobs, { namespace });
    return items.length === 1;
  });
  expect(await world.admin.get(jobs, { namespace, name: 'second' })).toMatchObject({ kind: 'Job' });
});
