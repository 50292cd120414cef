import { afterEach, beforeEach, expect, test } from 'vitest';
import { drain, setSchedulable } from '../../../cli/drain.ts';
import { removeCluster } from '../../../cli/remove.ts';
import { until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const namespace = 'default';
const batch = (resource: string) => ({ group: 'batch', version: 'v1', resource });

test('a Job that a user makes from a CronJob runs, as kubectl create job --from makes it', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };
  const { metadata } = await world.admin.create(
    batch('cronjobs'),
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'x', annotations: { 'atoll.dev/clusters': 'east' } },
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
    },
    { namespace },
  );
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'x', uid: metadata.uid ?? '' };
  await world.admin.create(
    batch('jobs'),
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'by-hand',
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual', 'atoll.dev/clusters': 'east' },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { template },
    },
    { namespace },
  );
  await until('it is complete', async () => {
    const { status } = await world.admin.get(batch('jobs'), { namespace, name: 'by-hand' });
    const { succeeded, uncountedTerminatedPods } = (status ?? {}) as Record<string, unknown>;
    return succeeded === 1 && uncountedTerminatedPods !== undefined;
  });
});

test('who names a physical cluster that is not there is told which are', async () => {
  const said = 'no physical cluster esat; there are: east, west';
  const wait = { timeoutSeconds: 1, output: 'text' } as const;
  await expect(drain(world.admin, 'esat', wait)).rejects.toThrow(said);
  await expect(setSchedulable(world.admin, 'esat', false, 'text')).rejects.toThrow(said);
  await expect(removeCluster(world.admin, 'esat', { forget: true, waitSeconds: 1 })).rejects.toThrow(said);
});
