import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { textAt } from '../../../kube/untyped.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { workspaces } = resources;
const group = 'admissionregistration.k8s.io';
const workspace = (name: string) =>
  ({ apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } }) as KubeObject;

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: [] });
});
afterAll(() => world.stop());

async function ready(name: string, cluster = 'root'): Promise<KubeObject> {
  return await until(`${name} is ready`, async () => {
    const found = await world.admin.get(workspaces, { name, cluster });
    return textAt(found, 'status', 'phase') === 'Ready' ? found : undefined;
  });
}

test('a policy of one logical cluster makes a Workspace in it that is another’s neither by its own word nor by our controllers’', async () => {
  for (const name of ['one', 'victim']) await world.admin.create(workspaces, workspace(name));
  await ready('one');
  const victim = textAt(await ready('victim'), 'spec', 'cluster') ?? '';
  const cluster = 'root:one';
  const metadata = { name: 'take' };
  const take = (resource: string, spec: object) =>
    world.admin.create({ group, version: 'v1', resource }, { metadata, spec } as never, { cluster });
  const resourceRules = [
    { apiGroups: ['tenancy.kcp.io'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['workspaces'] },
  ];
  const expression = `[JSONPatch{op: 'add', path: '/spec/cluster', value: '${victim}'}]`;
  await take('mutatingadmissionpolicies', {
    matchConstraints: { resourceRules },
    matchConditions: [{ name: 'own', expression: "request.userInfo.username.startsWith('system:atoll:')" }],
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  await take('mutatingadmissionpolicybindings', { policyName: 'take' });
  await world.admin.create(workspaces, workspace('below'), { cluster });
  expect(textAt(await ready('below', cluster), 'spec', 'cluster')).not.toBe(victim);
});
