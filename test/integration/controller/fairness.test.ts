import { afterEach, beforeEach, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { type Hooks, startHooks } from '../apiserver/webhook/hooks.ts';

let hooks: Hooks;
let world: World;
beforeEach(async () => {
  hooks = await startHooks({ '/deny': () => ({ allowed: false }), '/hang': () => null });
  world = await startWorld({ clusters: ['east'] });
});
afterEach(async () => {
  await hooks.close();
  await world.stop();
});

async function logicalCluster(name: string): Promise<Client> {
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await world.admin.create(resources.workspaces, workspace);
  const ready = async () =>
    (await find<KubeObject<unknown, { phase?: string }>>(world.admin, resources.workspaces, name, ''))
      ?.status;
  await until(`${name} is ready`, async () => (await ready())?.phase === 'Ready');
  return world.admin.with({ cluster: `root:${name}` });
}

const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
};

/** Of all that our controllers write there, and nobody else. */
async function configure(client: Client, path: string): Promise<void> {
  await client.create(configurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'of-controllers' },
    webhooks: [
      {
        name: 'controllers.example.com',
        clientConfig: hooks.config(path),
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
        matchConditions: [
          { name: 'ours', expression: "request.userInfo.username.startsWith('system:atoll:')" },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 30,
      },
    ],
  } as KubeObject);
}

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const configMap = (name: string, metadata: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
});
const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never-was' };
/** One after the other, each hanging for 30 seconds, they would take longer than the test may. */
const numbers = Array.from({ length: 64 }, (_, i) => `n${i}`);

test('a webhook that hangs on all that controllers write in one logical cluster delays no other', async () => {
  const [x, y] = [await logicalCluster('x'), await logicalCluster('y')];
  for (const name of numbers) {
    await x.create(resources.namespaces, namespace(name));
    await x.create(
      resources.configmaps,
      configMap('held', { namespace: name, finalizers: ['example.com/held'] }),
    );
  }
  await configure(x, '/hang');
  for (const name of numbers) {
    // The scheduler, the collector and the namespace controller each have something to write, many times.
    await x.create(resources.deployments, deployment(name, 1));
    await x.create(resources.configmaps, configMap(name, { ownerReferences: [gone] }));
    await x.delete(resources.namespaces, { name });
  }
  await until('all of them hang', () => hooks.asked.length >= 12);
  await Promise.all([
    y.create(resources.deployments, deployment('web', 2)).then(() => settled(y, 'web.deployments.apps')),
    collects(y),
    ends(y),
    logicalCluster('z'),
  ]);
});

async function collects(client: Client): Promise<void> {
  await client.create(resources.configmaps, configMap('orphan', { ownerReferences: [gone] }));
  await until('it is collected', async () => !(await find(client, resources.configmaps, 'orphan')));
}

async function ends(client: Client): Promise<void> {
  await client.create(resources.namespaces, namespace('short'));
  await client.create(resources.configmaps, configMap('c', { namespace: 'short' }));
  await client.delete(resources.namespaces, { name: 'short' });
  await until('it has ended', async () => !(await find(client, resources.namespaces, 'short', '')));
}

test.each(['/deny', '/hang'])(
  'a logical cluster whose webhook says %s to all goes with its Workspace',
  async (path) => {
    const x = await logicalCluster('x');
    await x.create(resources.namespaces, namespace('shop'));
    await x.create(resources.configmaps, configMap('c', { namespace: 'shop' }));
    await x.create(resources.configmaps, configMap('c', {}));
    await configure(x, path);
    await world.admin.delete(resources.workspaces, { name: 'x' });
    const left = async () => await find(world.admin, resources.workspaces, 'x', '');
    await until('it is gone', async () => !(await left()));
  },
);
