import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { runCronJobsController } from '../../../controller/cronjobs/controller.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { textAt } from '../../../kube/untyped.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const jobs = { group: 'batch', version: 'v1', resource: 'jobs' };
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };
const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`;

let api: Api;
let client: Client;
let stop: AbortController;
let done: Promise<unknown>;

beforeEach(async () => {
  api = startApi();
  stop = new AbortController();
  client = new Client(api.server.transport({ name: 'controllers', groups: ['system:masters'] }), {
    cluster: '*',
  });
  for (const cluster of ['root:a', 'root:b']) {
    await api.addCluster(cluster);
    for (const name of ['x', 'y'])
      await client.create(
        namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        { cluster },
      );
  }
  const { signal } = stop;
  const informers = new InformerSet(client, { cluster: '*', signal });
  done = runCronJobsController({ client, informers, signal, logger: silentLogger });
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
});

/** One that has completed, and says that it is of that CronJob. */
async function completed(
  place: { cluster: string; namespace: string; name: string },
  { metadata: { name = '', uid = '' } }: KubeObject,
  minute: number,
): Promise<void> {
  const { cluster, ...metadata } = place;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true }];
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadata, ownerReferences } };
  const made = await client.create(jobs, { ...job, spec: { template } }, { cluster });
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True' }));
  const status = { startTime: at(minute), completionTime: at(minute), succeeded: 1, conditions };
  await client.patch(jobs, { ...place, subresource: 'status' }, 'merge', {
    metadata: { resourceVersion: made.metadata.resourceVersion },
    status,
  });
}

test('what names a CronJob of another logical cluster, or namespace, is none of its Jobs', async () => {
  const cluster = 'root:a';
  const namespace = 'x';
  const metadata = { name: 'nightly', namespace };
  const spec = { schedule: '0 0 1 1 *', successfulJobsHistoryLimit: 1, jobTemplate: { spec: { template } } };
  const nightly = { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec };
  const made = await client.create(cronJobs, nightly, { cluster });
  await completed({ cluster: 'root:b', namespace, name: 'theirs' }, made, 8);
  await completed({ cluster, namespace: 'y', name: 'elsewhere' }, made, 9);
  const said = (minute: number) =>
    eventually(async () => {
      const { status } = await client.get(cronJobs, { cluster, namespace, name: 'nightly' });
      expect(textAt(status, 'lastSuccessfulTime')).toBe(at(minute));
    });
  await completed({ cluster, namespace, name: 'first' }, made, 1);
  await said(1);
  await completed({ cluster, namespace, name: 'second' }, made, 2);
  await said(2);
  await eventually(async () => {
    const { items } = await client.list(jobs, { cluster, namespace });
    expect(items.map((job) => job.metadata.name)).toEqual(['second']);
  });
});
