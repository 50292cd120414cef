import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { numberAt, textAt } from '../../kube/untyped.ts';
import { atoll, kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { type Pair, startPair } from '../atoll/pair.ts';
import { portForward } from '../atoll/portforward.ts';

const shop = new URL('../../sim/samples/shop.yaml', import.meta.url).pathname;

let directory = '';
/** Two real clusters, and in Atoll root:team-a, whose namespace default ann works in. */
let pair: Pair;
/** Of the administrator, in root:team-a. */
let team = '';
/** Has `edit` in default of root:team-a, and may place on east and west. */
let ann = '';
/** Has `admin` there. */
let bea = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-tenant-'));
  [team, ann, bea] = [join(directory, 'team.yaml'), join(directory, 'ann.yaml'), join(directory, 'bea.yaml')];
  pair = await startPair();
  const { kubeconfig } = pair.server;
  for (const name of ['team-a', 'team-b']) {
    await make(kubeconfig, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } });
    const ready = '--for=jsonpath={.status.phase}=Ready';
    await must(kubeconfig, 'wait', 'workspace', name, ready, '--timeout=240s');
  }
  const own = ['kubeconfig', 'root:team-a', '-o'];
  expect((await atoll(kubeconfig, ...own, team)).code).toBe(0);
  const given = ['--expires', '8h', '--user'];
  expect((await atoll(kubeconfig, ...own, ann, ...given, 'ann', '--group', 'developers')).code).toBe(0);
  expect((await atoll(kubeconfig, ...own, bea, ...given, 'bea')).code).toBe(0);
  const inDefault = ['-n', 'default'];
  await must(
    team,
    'create',
    'rolebinding',
    'developers',
    '--clusterrole=edit',
    '--group=developers',
    ...inDefault,
  );
  await must(team, 'create', 'rolebinding', 'bea', '--clusterrole=admin', '--user=bea', ...inDefault);
  await make(team, placing);
  await must(team, 'create', 'rolebinding', 'placing', '--role=placing', '--group=developers', ...inDefault);
  await must(team, 'create', 'namespace', 'other');
  await must(team, 'create', 'secret', 'generic', 'hidden', '-n', 'other', '--from-literal=a=b');
});
afterAll(async () => {
  await pair?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** What the tour takes beside `edit`: as docs/reference/access.md gives it. */
const placing = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'placing', namespace: 'default' },
  rules: [
    {
      apiGroups: ['atoll.dev'],
      resources: ['physicalclusters'],
      resourceNames: ['east', 'west'],
      verbs: ['place'],
    },
    { apiGroups: ['atoll.dev'], resources: ['placements'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['default'], verbs: ['get', 'patch'] },
  ],
};

async function make(kubeconfig: string, object: object): Promise<void> {
  const file = join(directory, 'object.json');
  await writeFile(file, JSON.stringify(object));
  await must(kubeconfig, 'create', '-f', file);
}

/** Which physical clusters run the pods of web, as ann sees them; undefined until `count` are ready. */
async function whereWebRuns(count = 4): Promise<string | undefined> {
  const { items } = await mustJson<{ items: KubeObject[] }>(ann, 'get', 'pods', '-l', 'tier=web');
  const web = await mustJson<KubeObject>(ann, 'get', 'deploy', 'web');
  const ready = numberAt(web, 'status', 'readyReplicas') === count && items.length === count;
  const nodes = items.map((pod) => textAt(pod, 'spec', 'nodeName')?.split('-')[0] ?? 'nowhere');
  return ready ? [...new Set(nodes)].sort().join(',') : undefined;
}
const runsOn = (where: string) =>
  until(`web runs on ${where}`, 90, async () => (await whereWebRuns()) === where);

describe('a developer with a Role in one namespace does what README shows', () => {
  it('applies an app, and sees it as on one cluster', async () => {
    await must(ann, 'apply', '-f', shop);
    for (const name of ['web', 'api', 'store'])
      await must(ann, 'rollout', 'status', 'deploy', name, '--timeout=240s');
    await until('each pod is shown with its node', 60, async () => {
      const rows = (await must(ann, 'get', 'pods', '-o', 'wide', '--no-headers')).trim().split('\n');
      return rows.length === 9 && rows.every((row) => /1\/1 +Running .* (east|west)-\d /.test(row));
    });
    expect(await must(ann, 'get', 'deploy', '-o', 'wide')).toMatch(/^web +4\/4 /m);
  });

  it('moves one workload, and back', async () => {
    await must(ann, 'annotate', 'ns', 'default', 'atoll.dev/clusters=east', '--overwrite');
    await runsOn('east');
    await must(ann, 'annotate', 'deploy', 'web', 'atoll.dev/clusters=west', '--overwrite');
    await runsOn('west');
    await must(ann, 'annotate', 'deploy', 'web', 'atoll.dev/clusters-');
    await runsOn('east');
  });

  it('moves and spreads everything, and reads why', async () => {
    await must(ann, 'annotate', 'ns', 'default', 'atoll.dev/clusters=west', '--overwrite');
    await runsOn('west');
    await must(ann, 'annotate', 'ns', 'default', 'atoll.dev/clusters=east,west', '--overwrite');
    await runsOn('east,west');
    expect(await must(ann, 'get', 'placements')).toMatch(
      /^web\.deployments\.apps +east=2\/2 west=2\/2 +Settled .* named by its Namespace's annotation$/m,
    );
    expect(await must(ann, 'get', 'events', '-o', 'name')).toContain('event/web');
    expect(await must(ann, 'describe', 'deploy', 'web')).toContain('Placed');
  });

  it('works in its pods, from whichever cluster runs them', async () => {
    expect(await must(ann, 'logs', 'deploy/web')).toMatch(/hello from a pod of (east|west)/);
    expect(await must(ann, 'exec', 'deploy/web', '--', 'echo', 'from inside')).toBe('from inside\n');
    const forward = await portForward(ann, 'deploy/web', 8080);
    expect(await forward.exchange('ping\n')).toBe('ping\n');
    forward.stop();
  });

  it('changes it as on one cluster', async () => {
    await must(ann, 'scale', 'deploy', 'web', '--replicas=2');
    await until('two run', 60, async () => (await whereWebRuns(2)) !== undefined);
    await must(ann, 'set', 'image', 'deploy/web', 'web=registry.example/web:2');
    await must(ann, 'rollout', 'status', 'deploy/web', '--timeout=240s');
    await must(ann, 'rollout', 'undo', 'deploy/web');
    await must(ann, 'rollout', 'status', 'deploy/web', '--timeout=240s');
    await must(ann, 'delete', 'pod', '-l', 'tier=store', '--wait=false');
    await must(ann, 'rollout', 'status', 'deploy/store', '--timeout=240s');
  });

  it('asks what she may', async () => {
    const { stdout } = await kubectl(ann, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
    expect(stdout).toBe('ann');
    expect((await kubectl(ann, 'auth', 'can-i', 'create', 'deployments')).stdout).toBe('yes\n');
    expect((await kubectl(ann, 'auth', 'can-i', 'create', 'deployments', '-n', 'other')).stdout).toBe('no\n');
    expect(await must(ann, 'auth', 'can-i', '--list')).toMatch(
      /physicalclusters\.atoll\.dev +\[\] +\[(east|west)\] +\[place\]/,
    );
  });
});

const user = 'Error from server (Forbidden): ';
const annCannot = (verb: string, resource: string, group: string, where: string) =>
  `User "ann" cannot ${verb} resource "${resource}" in API group "${group}" ${where}\n`;
const forbidden = (verb: string, resource: string, group = '', where = 'at the cluster scope') =>
  `${user}${group === '' ? resource : `${resource}.${group}`} is forbidden: ${annCannot(verb, resource, group, where)}`;
const inOther = 'in the namespace "other"';
const rbac = 'rbac.authorization.k8s.io';
const mayPlace = (who: string, cluster: string) =>
  `${user}deployments.apps "web" is forbidden: User "${who}" cannot place on physicalclusters.atoll.dev/${cluster} in the namespace "default": the annotation atoll.dev/clusters needs the verb "place"`;

/** What kubectl says at the end, whole; or with which words it begins. */
async function expectRefused(kubeconfig: string, args: string, says: string): Promise<void> {
  const { code, stdout, stderr } = await kubectl(kubeconfig, ...args.split(' '));
  expect({ args, code, stdout, stderr }).toEqual({
    args,
    code: 1,
    stdout: '',
    stderr: says.endsWith('\n') ? says : expect.stringContaining(says),
  });
}

describe('and is refused everything else', () => {
  it.each([
    ['get pods -n other', forbidden('list', 'pods', '', inOther)],
    ['get pods -A', forbidden('list', 'pods')],
    ['get secrets -n other', forbidden('list', 'secrets', '', inOther)],
    [
      'get secret hidden -n other',
      `${user}secrets "hidden" is forbidden: ${annCannot('get', 'secrets', '', inOther)}`,
    ],
    ['get secrets -A', forbidden('list', 'secrets')],
    [
      'create configmap x -n other',
      `error: failed to create configmap: configmaps is forbidden: ${annCannot('create', 'configmaps', '', inOther)}`,
    ],
    [
      'create configmap x -n nowhere',
      `error: failed to create configmap: configmaps is forbidden: ${annCannot('create', 'configmaps', '', 'in the namespace "nowhere"')}`,
    ],
    [
      'create token default -n other',
      `error: failed to create token: serviceaccounts "default" is forbidden: ${annCannot('create', 'serviceaccounts/token', '', inOther)}`,
    ],
    ['exec -n other web -- true', `${user}pods "web" is forbidden: ${annCannot('get', 'pods', '', inOther)}`],
    [
      'annotate ns other atoll.dev/clusters=east',
      `${user}namespaces "other" is forbidden: ${annCannot('get', 'namespaces', '', inOther)}`,
    ],
  ])('in another namespace: %s', (args, says) => expectRefused(ann, args, says));

  it.each([
    ['get ns', forbidden('list', 'namespaces')],
    ['create ns mine', forbidden('create', 'namespaces')],
    [
      'delete ns default',
      `${user}namespaces "default" is forbidden: ${annCannot('delete', 'namespaces', '', 'in the namespace "default"')}`,
    ],
    ['get nodes', forbidden('list', 'nodes')],
    ['get clusterroles', forbidden('list', 'clusterroles', rbac)],
    ['get crd', forbidden('list', 'customresourcedefinitions', 'apiextensions.k8s.io')],
    [
      'get mutatingwebhookconfigurations',
      forbidden('list', 'mutatingwebhookconfigurations', 'admissionregistration.k8s.io'),
    ],
    ['get workspaces', forbidden('list', 'workspaces', 'tenancy.kcp.io')],
    [
      'get logicalcluster cluster',
      `${user}logicalclusters.core.kcp.io "cluster" is forbidden: ${annCannot('get', 'logicalclusters', 'core.kcp.io', 'at the cluster scope')}`,
    ],
    ['get physicalclusters', forbidden('list', 'physicalclusters', 'atoll.dev')],
    ['get --raw /metrics', `${user}forbidden: User "ann" cannot get path "/metrics"\n`],
  ])('of the whole logical cluster: %s', (args, says) => expectRefused(ann, args, says));

  it.each([
    ['annotate deploy web atoll.dev/clusters=north --overwrite', mayPlace('ann', 'north')],
    ['annotate deploy web atoll.dev/clusters=east,north --overwrite', mayPlace('ann', 'north')],
    [
      'delete placement web.deployments.apps',
      `${user}placements.atoll.dev "web.deployments.apps" is forbidden: User "ann" cannot delete resource "placements" in API group "atoll.dev" in the namespace "default": placements are written by the system\n`,
    ],
    [
      'create quota none --hard=pods=100',
      `error: failed to create quota: resourcequotas is forbidden: ${annCannot('create', 'resourcequotas', '', 'in the namespace "default"')}`,
    ],
  ])('what is not hers in her own: %s', (args, says) => expectRefused(ann, args, says));

  const more = (who: string) =>
    `user "${who}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n`;
  const all = '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}\n';
  const hers = [
    '{APIGroups:[""], Resources:["namespaces"], ResourceNames:["default"], Verbs:["patch"]}\n',
    '{APIGroups:["atoll.dev"], Resources:["physicalclusters"], ResourceNames:["east"], Verbs:["place"]}\n',
    '{APIGroups:["atoll.dev"], Resources:["physicalclusters"], ResourceNames:["west"], Verbs:["place"]}\n',
    '{APIGroups:["atoll.dev"], Resources:["placements"], Verbs:["get" "list" "watch"]}\n',
  ].join('');
  it.each<['ann' | 'bea', string, string]>([
    [
      'ann',
      'create role x --verb=get --resource=pods',
      forbidden('create', 'roles', rbac, 'in the namespace "default"'),
    ],
    [
      'ann',
      'create rolebinding x --clusterrole=cluster-admin --user=ann',
      `error: failed to create rolebinding: rolebindings.${rbac} is forbidden: ${annCannot('create', 'rolebindings', rbac, 'in the namespace "default"')}`,
    ],
    [
      'ann',
      'create clusterrolebinding x --clusterrole=cluster-admin --user=ann',
      `error: failed to create clusterrolebinding: clusterrolebindings.${rbac} is forbidden: ${annCannot('create', 'clusterrolebindings', rbac, 'at the cluster scope')}`,
    ],
    [
      'bea',
      'create role x --verb=get --resource=nodes',
      `${user}roles.${rbac} "x" is forbidden: ${more('bea')}{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}\n`,
    ],
    [
      'bea',
      'create role x --verb=place --resource=physicalclusters.atoll.dev',
      `${user}roles.${rbac} "x" is forbidden: ${more('bea')}{APIGroups:["atoll.dev"], Resources:["physicalclusters"], Verbs:["place"]}`,
    ],
    [
      'bea',
      'create rolebinding x --clusterrole=cluster-admin --user=bea',
      `error: failed to create rolebinding: rolebindings.${rbac} "x" is forbidden: ${more('bea')}${all}`,
    ],
    [
      'bea',
      'create rolebinding x --role=placing --user=bea',
      `error: failed to create rolebinding: rolebindings.${rbac} "x" is forbidden: ${more('bea')}${hers}`,
    ],
    ['bea', 'annotate deploy web atoll.dev/clusters=east --overwrite', mayPlace('bea', 'east')],
  ])('who gives out rights, or takes them: %s, %s', (who, args, says) =>
    expectRefused({ ann, bea }[who], args, says),
  );

  const impersonate = (resource: string, name: string, where = 'at the cluster scope') =>
    `${user}${resource} "${name}" is forbidden: ${annCannot('impersonate', resource, '', where)}`;
  it.each([
    ['--as=admin', impersonate('users', 'admin')],
    ['--as=bea', impersonate('users', 'bea')],
    ['--as=ann --as-group=system:masters', impersonate('users', 'ann')],
    ['--as=system:serviceaccount:other:default', impersonate('serviceaccounts', 'default', inOther)],
  ])('as somebody else: %s', (as, says) => expectRefused(ann, `get pods ${as}`, says));

  const inDefault = 'in the namespace "default"';
  const inSystem = 'in the namespace "atoll-system"';
  const path = (at: string) => `${user}forbidden: User "ann" cannot get path "${at}"\n`;
  it.each([
    // What is there and what is not are told apart by no word.
    ['/clusters/root/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
    ['/clusters/root:team-b/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
    ['/clusters/root:none/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
    ['/clusters/root:team-a:none/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
    ['/clusters/*/api/v1/pods', forbidden('list', 'pods')],
    ['/clusters/*/api/v1/secrets', forbidden('list', 'secrets')],
    ['/clusters/root/api/v1/namespaces/atoll-system/secrets', forbidden('list', 'secrets', '', inSystem)],
    ['/api/v1/namespaces/atoll-system/secrets', forbidden('list', 'secrets', '', inSystem)],
    ['/apis/atoll.dev/v1alpha1/physicalclusters', forbidden('list', 'physicalclusters', 'atoll.dev')],
    ['/syncers/east/api/v1/pods', path('/syncers/east/api/v1/pods')],
    ['/backup', path('/backup')],
    ['/metrics', path('/metrics')],
  ])('elsewhere: %s', (at, says) => expectRefused(ann, `get --raw ${at} --server ${pair.server.url}`, says));

  it.each([['root'], ['root:team-b'], ['root:none'], ['*']])('elsewhere, as kubectl looks: %s', (cluster) =>
    expectRefused(
      ann,
      `get pods --server ${pair.server.url}/clusters/${cluster} --cache-dir ${directory}`,
      'Error from server (Forbidden): unknown',
    ),
  );

  const administrators = "this needs an administrator's kubeconfig\n";
  it.each([
    ['drain east'],
    ['cordon east'],
    ['uncordon east'],
    ['cluster list'],
    ['cluster remove east'],
    ['token-keys list'],
    ['backup nothing.backup'],
    ['kubeconfig root:team-a --user eve'],
    ['kubeconfig root:team-a --user ann --admin'],
    ['kubeconfig root:team-b'],
  ])('what is an administrator’s: atoll %s', async (args) => {
    const { code, stdout, stderr } = await atoll(ann, ...args.split(' '));
    expect({ args, code, stdout, stderr }).toEqual({
      args,
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`User "ann" cannot .*${administrators}$`)),
    });
  });

  it('and finds her own as she left it, though a cluster was emptied beside her', async () => {
    const { kubeconfig } = pair.server;
    expect(await atoll(kubeconfig, 'drain', 'east', '--timeout', '180')).toMatchObject({
      code: 0,
      stderr: '',
    });
    await until('web runs on west', 60, async () => (await whereWebRuns(2)) === 'west');
    expect((await atoll(kubeconfig, 'uncordon', 'east')).code).toBe(0);
    await until('web runs on both again', 90, async () => (await whereWebRuns(2)) === 'east,west');
    expect((await must(team, 'get', 'secret', 'hidden', '-n', 'other', '-o', 'name')).trim()).toBe(
      'secret/hidden',
    );
  });
});
