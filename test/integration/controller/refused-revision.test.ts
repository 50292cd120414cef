import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { controllersUser } from '../../../cluster/names.ts';
import { runRefusedRevisionController } from '../../../controller/admission/history.ts';
import type { ApiRequest, Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const replicasets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const apps = '/apis/apps/v1/namespaces/default';
const mark = 'atoll.dev/refused';
const revision = 'deployment.kubernetes.io/revision';

let api: Api;
let stop: AbortController;
let done: Promise<unknown> | undefined;

beforeEach(() => {
  api = startApi();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
});

/** `before`: what each of its requests waits for. */
function run(before: (request: ApiRequest, informers: InformerSet) => Promise<unknown> | undefined): void {
  const own = api.server.transport(ownUser(controllersUser));
  const transport: Transport = async (request) => {
    await before(request, informers);
    return own(request);
  };
  const client = new Client(transport, { cluster: '*' });
  const { signal } = stop;
  const informers = new InformerSet(client, { cluster: '*', signal });
  done = runRefusedRevisionController({ client, informers, signal, logger: silentLogger });
}

const template = (labels: object) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'c' }] },
});
const labels = { app: 'web' };
const spec = { replicas: 0, selector: { matchLabels: labels }, template: template(labels) };

const refusal = { 'atoll.dev/pod-admission': JSON.stringify({ refused: 'no' }) };
const sets = async () => (await api.call('GET', `${apps}/replicasets`)).body.items;

/** Its uid. */
async function deployment(annotations: object): Promise<string> {
  const metadata = { name: 'web', annotations };
  const made = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  return (await api.call('POST', `${apps}/deployments`, made)).body.metadata.uid;
}

async function replicaSet(name: string, uid: string, annotations: object, where = apps): Promise<void> {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true };
  const metadata = { name, annotations, ownerReferences: [owner] };
  const made = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec };
  expect((await api.call('POST', `${where}/replicasets`, made)).status).toBe(201);
}

test('what stands for a refusal that ended while nobody looked goes, whatever is heard of first', async () => {
  await replicaSet('web-refused', await deployment({}), { [mark]: 'true' });
  run((request, informers) =>
    request.url.includes('/deployments') ? informers.for(replicasets).synced : undefined,
  );
  await eventually(async () =>
    expect((await api.call('GET', `${apps}/replicasets/web-refused`)).status).toBe(404),
  );
});

test('what another logical cluster, or namespace, says to be its own is none of its history', async () => {
  const uid = await deployment(refusal);
  const elsewhere = `/clusters/${await api.addCluster('root:other')}${apps}`;
  await api.call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'beside' },
  });
  await replicaSet('refused', uid, { [mark]: 'true' }, elsewhere);
  await replicaSet('numbered', uid, { [revision]: '41' }, elsewhere);
  await replicaSet('numbered', uid, { [revision]: '42' }, apps.replace('default', 'beside'));
  run((request, informers) =>
    request.url.includes('/deployments') ? informers.for(replicasets).synced : undefined,
  );
  const found = await eventually(async () => {
    const { items } = (await api.call('GET', `${apps}/replicasets`)).body;
    expect(items).toHaveLength(1);
    return items[0].metadata.annotations;
  });
  expect(found).toMatchObject({ [mark]: 'true', [revision]: '1' });
});

test('what its Deployment is annotated with is on it, and it has been seen to have none, as Kubernetes has it', async () => {
  await deployment({ ...refusal, 'kubernetes.io/change-cause': 'first', other: 'stays' });
  run(() => undefined);
  const found = await eventually(async () => {
    const [set] = await sets();
    expect(set?.status).toEqual({ replicas: 0, observedGeneration: 1 });
    return set;
  });
  expect(found.metadata.annotations).toMatchObject({ 'kubernetes.io/change-cause': 'first', other: 'stays' });
  const annotations = { 'kubernetes.io/change-cause': 'second', other: null };
  await api.call('PATCH', `${apps}/deployments/web`, { metadata: { annotations } });
  await eventually(async () => {
    const [set] = await sets();
    expect(set.metadata.annotations).toMatchObject({
      'kubernetes.io/change-cause': 'second',
      other: 'stays',
    });
    expect(set.metadata.uid).toBe(found.metadata.uid);
  });
});

test('where its name is taken it comes once that is free', async () => {
  const uid = await deployment(refusal);
  run(() => undefined);
  const [{ metadata }] = await eventually(async () => {
    const items = await sets();
    expect(items).toHaveLength(1);
    return items;
  });
  stop.abort();
  await done;
  const at = `${apps}/replicasets/${metadata.name}`;
  await api.call('DELETE', at);
  const stranger = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: metadata.name }, spec };
  expect((await api.call('POST', `${apps}/replicasets`, stranger)).status).toBe(201);
  stop = new AbortController();
  const tried = new Promise<void>((resolve) => {
    run((request) => {
      if (request.method === 'POST') resolve();
      return undefined;
    });
  });
  await tried;
  await api.call('DELETE', at);
  await eventually(async () => {
    const [set] = await sets();
    expect(set?.metadata.ownerReferences).toMatchObject([{ uid }]);
  });
});
