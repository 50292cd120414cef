import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { explain } from '../../../cli/explain/explain.ts';
import { parseNamed } from '../../../cli/explain/kinds.ts';
import { main } from '../../../cli/program.ts';
import { deployment, resources, settled, template, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
let out = '';
let err = '';
beforeEach(async () => {
  const broken = { as: 'Waiting', reason: 'ImagePullBackOff', message: 'no such image' } as const;
  const quick = { scheduledAfterMs: [10, 20], readyAfterMs: [10, 50], stopsAfterMs: [10, 20] } as const;
  world = await startWorld({
    behaviours: [
      { name: 'broken', match: { image: 'broken' }, ...quick, fails: broken },
      { name: 'server', ...quick },
    ],
  });
  const { stdout, stderr } = process;
  const [toOut, toErr] = [vi.spyOn(stdout, 'write'), vi.spyOn(stderr, 'write')];
  toOut.mockImplementation((text) => {
    out += String(text);
    return true;
  });
  toErr.mockImplementation((text) => {
    err += String(text);
    return true;
  });
  onTestFinished(() => {
    toOut.mockRestore();
    toErr.mockRestore();
  });
});
afterEach(() => world.stop());

const namespace = 'default';
const where = { cluster: 'root', namespace };

test('a decision, a move and a refusal are told as they are', async () => {
  const kubeconfig = await world.listen();
  const atoll = async (...args: string[]) => {
    [out, err] = ['', ''];
    return await main(['node', 'atoll', '--atoll-kubeconfig', kubeconfig, 'explain', ...args]);
  };
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), { namespace });
  await settled(world.admin, 'web.deployments.apps');
  expect(await atoll('deploy/web'), err).toBe(0);
  expect(out).toContain('root/default/deployments.apps/web is on east, as it should be\n');
  expect(out).toMatch(/\nWho asked:\n {2}its annotation: east \(written by \S+\)\n/);
  expect(out).toContain('\nWhere it is:\n  east: there, and counted on; 2/2 ready');

  await world.admin.patch(resources.deployments, { namespace, name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/clusters': 'west' } },
    spec: { template: template('web', 'broken:1') },
  });
  const words = ['deployments.apps', 'web', '-n', namespace, '--logical-cluster', 'root'];
  await until('the move is told, and what keeps it', async () => {
    expect(await atoll(...words)).toBe(0);
    return /\n {2}west: joining.*\n {4}pod web-\S+: container c: ImagePullBackOff: no such image\n/.test(out);
  });
  expect(out).toContain('root/default/deployments.apps/web is moving from east to west\n');
  expect(out).toMatch(/\n {2}keep it on east: kubectl .* atoll\.dev\/clusters=east\n$/);

  const full = { spec: { capacity: { pods: '0' } } };
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', full);
  await world.admin.create(resources.deployments, deployment('big', 2, 'east'), { namespace });
  await until('the refusal is told', async () => {
    await atoll('deployment/big', '-o', 'json');
    return out.includes('runs nowhere: no cluster takes it');
  });
  expect(JSON.parse(out)).toMatchObject({
    object: 'deployments.apps/big',
    sections: expect.arrayContaining([
      { title: 'Where it is not to be', lines: ['east: needs 2 pods, 0 left'] },
    ]),
  });
  expect(await atoll('deployment/none')).toBe(1);
  expect(err).toContain(
    'deployments.apps "none" not found in root/default: -n and --logical-cluster name another place\n',
  );
  expect(await atoll('deployment/none', '--logical-cluster', 'nosuch')).toBe(1);
  expect(err).toContain('there is no logical cluster nosuch, or it serves no deployments.apps\n');
  expect(await atoll('role/none')).toBe(2);
});

test('whoever may read the object is told what they may read, and nobody else anything', async () => {
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' };
  const apiGroup = rbac.group;
  await world.admin.create(rbac, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'ann', namespace },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup, kind: 'User', name: 'ann' }],
  });
  await world.admin.create(resources.deployments, deployment('web', 1), { namespace });
  await settled(world.admin, 'web.deployments.apps');
  const ann = world.as({ name: 'ann', groups: ['system:authenticated'] });
  const bob = world.as({ name: 'bob', groups: ['system:authenticated'] });
  const web = parseNamed(['deployment/web']);
  await until('its Events are told', async () => {
    out = '';
    await explain(ann, web, where, 'text');
    return out.includes('\n  Placed: ');
  });
  expect(out).toMatch(/web is to be on (east|west): more is said by its Placement, which you may not read\n/);
  expect(out).not.toContain('Where it is to be');
  await expect(explain(bob, web, where, 'text')).rejects.toThrow(
    /User "bob" cannot get resource "deployments".*: the ClusterRole view is enough; whoever administers root gives it: kubectl create rolebinding NAME --clusterrole view --user bob -n default$/,
  );
  await expect(explain(ann, parseNamed(['farms.shop.example.com/web']), where, 'text')).rejects.toThrow(
    /placements.* cannot|cannot get resource "placements"/,
  );
  await expect(
    explain(world.admin, parseNamed(['farms.shop.example.com/web']), where, 'text'),
  ).rejects.toThrow(
    /^farms\.shop\.example\.com\/web in default is placed nowhere, or is not there: .* \(kubectl get placedresources farms\.shop\.example\.com in root\)$/,
  );
  for (const of of ['secret/web'])
    await expect(explain(ann, parseNamed([of]), where, 'text')).rejects.toThrow(
      /: a role that may get it is enough; .*: kubectl create role NAME --verb get --resource secrets -n default and kubectl create rolebinding NAME --role NAME --user ann -n default$/,
    );
});
