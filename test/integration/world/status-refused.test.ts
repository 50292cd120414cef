import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, move, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const ready = async (cluster: string) => (await readyPods(world.physical(cluster), 'web')).length;

test('a policy that refuses the status of what is placed holds up no move, and is told of', async () => {
  const { admin } = world;
  const group = 'admissionregistration.k8s.io';
  const metadata = { name: 'no-status' };
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['*'],
    operations: ['UPDATE'],
    resources: ['deployments/status'],
  };
  const policy = {
    metadata,
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', message: 'nobody says how it is' }],
    },
  };
  const binding = { metadata, spec: { policyName: 'no-status', validationActions: ['Deny'] } };
  await admin.create({ group, version: 'v1', resource: 'validatingadmissionpolicies' }, policy as never);
  await admin.create(
    { group, version: 'v1', resource: 'validatingadmissionpolicybindings' },
    binding as never,
  );
  await admin.create(resources.deployments, deployment('web', 2, 'east'));
  await until('it is ready on east', async () => (await ready('east')) === 2);
  await move(admin, resources.deployments, 'web', 'west');
  await until('it is on west alone', async () => {
    return (await ready('east')) === 0 && (await ready('west')) === 2;
  });
  const { items } = await admin.list<KubeObject>(resources.events, { namespace: 'default' });
  const said = items.find((event) => event['reason'] === 'StatusRefused');
  expect(said).toMatchObject({ type: 'Warning', involvedObject: { kind: 'Deployment', name: 'web' } });
  expect(said?.['message']).toContain('nobody says how it is');
});
