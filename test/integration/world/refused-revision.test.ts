import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt, textAt } from '../../../kube/untyped.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, replicasets, statefulsets } = resources;
const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' };
const registration = { group: 'admissionregistration.k8s.io', version: 'v1' };
const policies = { ...registration, resource: 'validatingadmissionpolicies' };
const bindings = { ...registration, resource: 'validatingadmissionpolicybindings' };
const inDefault = { namespace: 'default' };
const mark = 'atoll.dev/refused';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const expression = "!object.spec.containers.exists(c, c.image.contains('bad'))";
  const spec = { matchConstraints: { resourceRules: rules }, validations: [{ expression }] };
  const said = { policyName: 'no-bad', validationActions: ['Deny'] };
  const of = (kind: string) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind });
  const metadata = { name: 'no-bad' };
  await world.admin.create(policies, { ...of('ValidatingAdmissionPolicy'), metadata, spec });
  await world.admin.create(bindings, { ...of('ValidatingAdmissionPolicyBinding'), metadata, spec: said });
});
afterAll(() => world.stop());

type Kind = typeof deployments | typeof statefulsets;

const update = (kind: Kind, name: string, image: string) =>
  world.admin.patch(kind, { ...inDefault, name }, 'merge', { spec: { template: template(name, image) } });
const imageOf = ({ spec, data }: KubeObject & { data?: { spec?: object } }) =>
  textAt(listAt(data?.spec ?? spec, 'template', 'spec', 'containers')[0], 'image');
const numberOf = (one: KubeObject) =>
  Number(at(one, 'revision') ?? one.metadata.annotations?.['deployment.kubernetes.io/revision']);

/** Its revisions as kubectl finds them, oldest first. */
async function history(kind: Kind, name: string): Promise<KubeObject[]> {
  const { uid } = (await world.admin.get(kind, { ...inDefault, name })).metadata;
  const resource = kind === deployments ? replicasets : revisions;
  const { items } = await world.admin.list(resource, { ...inDefault, labelSelector: `app=${name}` });
  return items
    .filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.controller && one.uid === uid))
    .sort((a, b) => numberOf(a) - numberOf(b));
}

/** Waits until these images are its history, the newest at the end. */
const told = (kind: Kind, name: string, ...images: string[]) =>
  until(`its history is ${images.join(', ')}`, async () => {
    const found = await history(kind, name);
    return JSON.stringify(found.map(imageOf)) === JSON.stringify(images) ? found : undefined;
  });

test('what runs is what an undo of a refused update leads to', async () => {
  const [kind, name] = [deployments, 'web'];
  await world.admin.create(kind, deployment(name, 1, 'east'), inDefault);
  await told(kind, name, `${name}:1`);
  await update(kind, name, `${name}:2`);
  await told(kind, name, `${name}:1`, `${name}:2`);
  await update(kind, name, 'bad:3');
  const [, runs, refused] = await told(kind, name, `${name}:1`, `${name}:2`, 'bad:3');
  expect([numberOf(runs as KubeObject), numberOf(refused as KubeObject)]).toEqual([2, 3]);
  expect(refused?.metadata.annotations).toMatchObject({ [mark]: 'true' });
  expect(refused?.metadata.annotations).not.toHaveProperty(['atoll.dev/clusters']);
  // Another refused one stands there instead.
  await update(kind, name, 'bad:4');
  await told(kind, name, `${name}:1`, `${name}:2`, 'bad:4');
  // Where it comes anew it is numbered as before.
  await move(world.admin, kind, name, 'west');
  await until('it has moved', async () => (await readyPods(world.physical('west'), name)).length === 1);
  await until('it has left', async () => (await readyPods(world.physical('east'), name)).length === 0);
  await told(kind, name, `${name}:1`, `${name}:2`, 'bad:4');
  await update(kind, name, `${name}:2`);
  await told(kind, name, `${name}:1`, `${name}:2`);
  await settled(world.admin, `${name}.${kind.resource}.apps`);
});

test('a StatefulSet has a ControllerRevision of it', async () => {
  await world.admin.create(statefulsets, statefulSet('db', 1, 'east'), inDefault);
  await settled(world.admin, 'db.statefulsets.apps');
  await update(statefulsets, 'db', 'bad:2');
  const [refused] = await told(statefulsets, 'db', 'bad:2');
  expect(at(refused, 'data', 'spec', 'template', '$patch')).toBe('replace');
  const set = await until('its status says which one it waits for', async () => {
    const one = await world.admin.get(statefulsets, { ...inDefault, name: 'db' });
    return at(one, 'status', 'updateRevision') === refused?.metadata.name ? one : undefined;
  });
  expect(at(set, 'status', 'currentRevision')).not.toBe(refused?.metadata.name);
  await update(statefulsets, 'db', 'db:1');
  await told(statefulsets, 'db');
});

test('what is let through has the ReplicaSet that its cluster makes, and no other', async () => {
  await world.admin.create(deployments, deployment('pass', 1, 'east'), inDefault);
  await told(deployments, 'pass', 'pass:1');
  await update(deployments, 'pass', 'bad:2');
  const [, refused] = await told(deployments, 'pass', 'pass:1', 'bad:2');
  const { name = '' } = refused?.metadata ?? {};
  await update(deployments, 'pass', 'good:3');
  const [, admitted] = await told(deployments, 'pass', 'pass:1', 'good:3');
  expect(numberOf(admitted as KubeObject)).toBe(2);
  expect(admitted?.metadata.annotations).not.toHaveProperty([mark]);
  expect(await find(world.admin, replicasets, name)).toBeUndefined();
});

test('nothing is made of it, and it goes with its Deployment; nobody says of one of theirs that it is one', async () => {
  await world.admin.create(deployments, deployment('gone', 1, 'east'), inDefault);
  await told(deployments, 'gone', 'gone:1');
  await update(deployments, 'gone', 'bad:2');
  const [, refused] = await told(deployments, 'gone', 'gone:1', 'bad:2');
  const { name = '' } = refused?.metadata ?? {};
  const { items } = await world.physical('east').client.list(replicasets, {});
  expect(items.map(({ metadata }) => metadata.name)).not.toContain(name);
  expect(await find(world.admin, resources.placements, `${name}.replicasets.apps`)).toBeUndefined();
  const mine = deployment('mine', 0);
  mine.metadata.annotations = { [mark]: 'true' };
  const made = await world.admin.create(deployments, mine, inDefault);
  expect(made.metadata.annotations ?? {}).not.toHaveProperty([mark]);
  await world.admin.delete(deployments, { ...inDefault, name: 'gone' });
  await until('it is gone', async () => (await find(world.admin, replicasets, name)) === undefined);
});
