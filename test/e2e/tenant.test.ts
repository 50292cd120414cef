import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { numberAt, textAt } from '../../kube/untyped.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import { atoll, kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { type Pair, startPair } from '../atoll/pair.ts';
import { portForward } from '../atoll/portforward.ts';
import { elsewhere, herOwn, otherNamespaces, others, rights, wholeCluster } from './refusals.ts';

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
  await make(team, await placing());
  await must(team, 'create', 'rolebinding', 'placing', '--role=placing', '--group=developers', ...inDefault);
  await must(team, 'create', 'namespace', 'other');
  await must(team, 'create', 'secret', 'generic', 'hidden', '-n', 'other', '--from-literal=a=b');
});
afterAll(async () => {
  await pair?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** What the tour takes beside `edit`: the Role that stands there. */
async function placing(): Promise<object> {
  const page = await readFile(new URL('../../docs/reference/access.md', import.meta.url), 'utf8');
  const [block = ''] = /(^ {4}.*\n)*^ {4}kind: Role\n(^ {4}.*\n)*/m.exec(page) ?? [];
  return decodeYaml(block).value as object;
}

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
    await until('why is said', 30, async () =>
      /^web\.deployments\.apps +east=2\/2 west=2\/2 +Settled .* named by its Namespace's annotation$/m.test(
        await must(ann, 'get', 'placements'),
      ),
    );
    await until('it is told', 30, async () => {
      expect(await must(ann, 'get', 'events', '-o', 'name')).toContain('event/web');
      expect(await must(ann, 'describe', 'deploy', 'web')).toContain('Placed');
      return true;
    });
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
  it.each(otherNamespaces)('in another namespace: %s', (args, says) => expectRefused(ann, args, says));

  it.each(wholeCluster)('of the whole logical cluster: %s', (args, says) => expectRefused(ann, args, says));

  it.each(herOwn)('what is not hers in her own: %s', (args, says) => expectRefused(ann, args, says));

  it.each(rights)('who gives out rights, or takes them: %s, %s', (who, args, says) =>
    expectRefused({ ann, bea }[who], args, says),
  );

  it.each(others)('as somebody else: %s', (as, says) => expectRefused(ann, `get pods ${as}`, says));

  it.each(elsewhere)('elsewhere: %s', (at, says) =>
    expectRefused(ann, `get --raw ${at} --server ${pair.server.url}`, says),
  );

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
