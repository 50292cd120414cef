import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { logicalClusterAnnotation } from '../../../cluster/names.ts';
import { runClaimsController } from '../../../controller/claims/controller.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';
import { startApi } from '../apiserver/api.ts';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const sets = '/apis/apps/v1/namespaces/default/statefulsets';
const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const labels = { app: 'db' };
const set = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, finalizers: ['example.com/stays'] },
  spec: {
    serviceName: name,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db' }] } },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim('data').spec }],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
  },
});

test('a claim is not given to a set that goes, though nobody has told of that yet', async () => {
  const api = startApi();
  const stop = new AbortController();
  const { signal } = stop;
  const direct = api.server.transport({ name: 'controllers', groups: ['system:masters'] });
  await api.call('POST', sets, set('going'));
  await api.call('POST', sets, set('stays'));
  const { body: before } = await api.call('GET', sets);
  await api.call('DELETE', `${sets}/going`);
  const asked: string[] = [];
  // Lists of sets are those of before, and their watches silent.
  const late: Transport = async (request) => {
    const url = new URL(request.url, 'http://atoll');
    asked.push(`${request.method} ${url.pathname}`);
    if (!url.pathname.endsWith('/statefulsets')) return await direct(request);
    if (url.searchParams.has('watch')) return { status: 200, headers: {}, body: silence(signal) };
    const answer = await direct(request);
    return { ...answer, body: Buffer.from(JSON.stringify({ ...before, items: before.items.map(inRoot) })) };
  };
  const client = new Client(late, { cluster: '*' });
  const informers = new InformerSet(client, { cluster: '*', signal });
  const done = runClaimsController({ client, informers, signal, logger: silentLogger });
  for (const name of ['going', 'stays']) await api.call('POST', claims, claim(`data-${name}-0`));
  const owners = async (name: string) =>
    (await api.call('GET', `${claims}/${name}`)).body.metadata.ownerReferences?.map(
      (owner: { name: string }) => owner.name,
    );
  await eventually(async () => expect(await owners('data-stays-0')).toEqual(['stays']));
  await eventually(async () =>
    expect(asked).toContainEqual(expect.stringMatching(/^GET .*\/statefulsets\/going$/)),
  );
  expect(await owners('data-going-0')).toBeUndefined();
  stop.abort();
  await done;
  await api.close();
});

const inRoot = (object: { metadata: { annotations?: object } }) => ({
  ...object,
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, [logicalClusterAnnotation]: 'root' },
  },
});

async function* silence(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  yield* [];
}
