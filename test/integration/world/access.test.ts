import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { main } from '../../../cli/program.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import { logicalClusters } from '../../../cluster/names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call, configMap } from '../apiserver/api.ts';

const { workspaces, serviceaccounts, physicalclusters } = resources;
const rbac = 'rbac.authorization.k8s.io';
const roles = { group: rbac, version: 'v1', resource: 'roles' };
const bindings = { group: rbac, version: 'v1', resource: 'rolebindings' };
const clusterBindings = { group: rbac, version: 'v1', resource: 'clusterrolebindings' };
const maps = '/api/v1/namespaces/default/configmaps';
const into = { cluster: 'root:a', namespace: 'default' };

let world: World;
let file: string;
let out = '';
let err = '';
const open: { close(): void }[] = [];

beforeAll(async () => {
  world = await startWorld({ clusters: [] });
  file = await world.listen();
  for (const name of ['a', 'b']) {
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
    await world.admin.create(workspaces, object);
    await until(`${name} is ready`, async () => {
      const { status } = await world.admin.get<KubeObject<unknown, { phase?: string }>>(workspaces, { name });
      return status?.phase === 'Ready';
    });
  }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create'] }];
  await world.admin.create(roles, object('Role', 'developer', { rules }), into);
  const roleRef = { apiGroup: rbac, kind: 'Role', name: 'developer' };
  const subjects = [
    { kind: 'Group', apiGroup: rbac, name: 'developers' },
    { kind: 'ServiceAccount', name: 'robot' },
  ];
  await world.admin.create(bindings, object('RoleBinding', 'developers', { roleRef, subjects }), into);
});
afterAll(async () => {
  for (const transport of open) transport.close();
  await world.stop();
});
beforeEach(() => {
  [out, err] = ['', ''];
  const keep = (add: (text: string) => void) => (text: string | Uint8Array) => {
    add(String(text));
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep((text) => (out += text)));
  vi.spyOn(process.stderr, 'write').mockImplementation(keep((text) => (err += text)));
});
afterEach(() => vi.restoreAllMocks());

function object(kind: string, name: string, said: object): KubeObject {
  return { apiVersion: `${rbac}/v1`, kind, metadata: { name }, ...said };
}

const atoll = (...args: string[]) =>
  main(['node', 'atoll', '--atoll-kubeconfig', file, 'kubeconfig', ...args]);

/** Over the network, with a kubeconfig that was printed; below another logical cluster than its own with `place`. */
async function user(text: string, place?: string) {
  const config = decodeYaml(text).value as { clusters: { cluster: { server: string } }[] };
  const [entry] = config.clusters;
  if (entry && place !== undefined)
    entry.cluster.server = entry.cluster.server.replace(/\/clusters\/.*/, place);
  const transport = await transportFromKubeconfig(encodeYaml(config as never));
  open.push(transport);
  return async (method: string, url: string, body?: object) =>
    (await call(transport, method, url, body)).status;
}

describe('a kubeconfig for somebody else', () => {
  test('holds their own certificate and nothing of the administrator’s; roles say what they may', async () => {
    const args = ['root:a', '--user', 'ann', '--group', 'developers', '--expires', '10m'];
    expect([await atoll(...args), err]).toEqual([0, '']);
    const given = out;
    expect(given).not.toMatch(/token|admin/);
    const ann = await user(given);
    expect([await ann('POST', maps, configMap('mine')), await ann('GET', maps)]).toEqual([201, 200]);
    const refused: [string, string][] = [
      ['DELETE', `${maps}/mine`],
      ['GET', '/api/v1/secrets'],
      ['GET', '/api/v1/namespaces/kube-system/configmaps'],
      ['GET', `/apis/${rbac}/v1/clusterroles`],
    ];
    for (const what of refused) expect([what, await ann(...what)]).toEqual([what, 403]);
    for (const place of ['/clusters/root:b', '/clusters/*', '']) {
      const elsewhere = await user(given, place);
      expect([place, await elsewhere('GET', maps)]).toEqual([place, 403]);
    }
    const inRoot = await user(given, '');
    for (const path of ['/client-certificates', '/backup', '/debug/pprof/heap', '/syncers/east/api'])
      expect([path, await inRoot('POST', path, {})]).toEqual([path, 403]);
  });

  test('merges with another of theirs: each context has the certificate that counts there', async () => {
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' };
    const subjects = [{ kind: 'Group', apiGroup: rbac, name: 'testers' }];
    const texts: string[] = [];
    for (const cluster of ['root:a', 'root:b']) {
      const binding = object('RoleBinding', 'testers', { roleRef, subjects });
      await world.admin.create(bindings, binding, { ...into, cluster });
      out = '';
      expect([await atoll(cluster, '--user', 'ann', '--group', 'testers'), err]).toEqual([0, '']);
      texts.push(out);
    }
    // As kubectl merges: of one name, the first counts.
    const [first, second] = texts.map((text) => decodeYaml(text).value as Record<string, { name: string }[]>);
    const lists = ['clusters', 'users', 'contexts'].map((list) => {
      const all = [...(first?.[list] ?? []), ...(second?.[list] ?? [])];
      return [list, all.filter(({ name }, i) => all.findIndex((one) => one.name === name) === i)] as const;
    });
    const merged = { apiVersion: 'v1', kind: 'Config', ...Object.fromEntries(lists) };
    expect(merged).toMatchObject({ users: [{ name: 'ann@root:a' }, { name: 'ann@root:b' }] });
    for (const context of ['root:a', 'root:b']) {
      const transport = await transportFromKubeconfig(encodeYaml(merged as never), { context });
      open.push(transport);
      expect([context, (await call(transport, 'GET', maps)).status]).toEqual([context, 200]);
    }
  });

  test('is of its own logical cluster when it is asked for itself, and in a file of its owner’s alone', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'atoll-own-'));
    const given = join(directory, 'ann.yaml');
    await writeFile(given, 'former', { mode: 0o644 });
    const asked = ['root:a', '--user', 'ann', '--group', 'testers,developers'];
    expect([await atoll(...asked, '-o', given), err]).toEqual([0, '']);
    expect(out).toMatch(/ann.yaml: ann in root:a until \S+Z; what was there is replaced\n$/);
    expect((await stat(given)).mode & 0o777).toBe(0o600);
    const text = await readFile(given, 'utf8');
    expect(await (await user(text))('GET', maps)).toBe(200);
    for (const same of [[], ['root:a']]) {
      out = '';
      const mine = ['node', 'atoll', '--atoll-kubeconfig', given, 'kubeconfig', ...same];
      expect([await main(mine), err]).toEqual([0, '']);
      expect(decodeYaml(out).value).toEqual(decodeYaml(text).value);
    }
    await rm(directory, { recursive: true });
  });

  test('says first whose it is, where and until when', async () => {
    const day = 86_400_000;
    const cases: [string[], string, number][] = [
      [['root:a', '--user', 'ann'], '# ann in root:a until ', day / 3],
      [['root:a', '--user', 'ann', '--everywhere', '--expires', '720h'], '# ann everywhere until ', 30 * day],
      [
        ['--user', 'ann', '--admin', '--expires', '1d12h'],
        '# ann, administrator of everything, until ',
        1.5 * day,
      ],
    ];
    for (const [args, begins, lasts] of cases) {
      out = '';
      expect([await atoll(...args), err]).toEqual([0, '']);
      const { users } = decodeYaml(out).value as { users: { user: Record<string, string> }[] };
      const pem = Buffer.from(users[0]?.user['client-certificate-data'] ?? '', 'base64');
      const { validFrom, validTo } = new X509Certificate(pem);
      const until = new Date(validTo).toISOString().replace('.000Z', 'Z');
      expect(out.split('\n')[0]).toBe(`${begins}${until}`);
      // They begin five minutes back, for clocks that are not quite in step.
      const hours = (Date.parse(validTo) - Date.parse(validFrom)) / 3_600_000 - 1 / 12;
      expect(Math.round(hours)).toBe(lasts / 3_600_000);
    }
    out = '';
    await atoll('root:a');
    expect(out).not.toContain('#');
  });

  test('is of that logical cluster alone, whatever groups bear the same name elsewhere, unless it is to count everywhere', async () => {
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' };
    const subjects = [{ kind: 'Group', apiGroup: rbac, name: 'developers' }];
    const binding = object('RoleBinding', 'developers', { roleRef, subjects });
    await world.admin.create(bindings, binding, { ...into, cluster: 'root:b' });
    const there = async (...more: string[]) => {
      expect([await atoll('root:a', '--user', 'ann', '--group', 'developers', ...more), err]).toEqual([
        0,
        '',
      ]);
      const [ann, elsewhere] = [await user(out), await user(out, '/clusters/root:b')];
      out = '';
      return [await ann('GET', maps), await elsewhere('GET', maps)];
    };
    expect(await there()).toEqual([200, 403]);
    expect(await there('--everywhere')).toEqual([200, 200]);
  });

  test('is refused from the next request on when it is taken away', async () => {
    await atoll('root:a', '--user', 'bob', '--group', 'readers');
    const bob = await user(out);
    expect(await bob('GET', maps)).toBe(403);
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' };
    const subjects = [{ kind: 'Group', apiGroup: rbac, name: 'readers' }];
    const binding = object('ClusterRoleBinding', 'readers', { roleRef, subjects });
    await world.admin.create(clusterBindings, binding, { cluster: 'root:a' });
    expect([await bob('GET', maps), await bob('GET', '/api/v1/pods')]).toEqual([200, 200]);
    await world.admin.delete(clusterBindings, { cluster: 'root:a', name: 'readers' });
    // It is the logical cluster that the certificate is of: what is served there may be known.
    expect([await bob('GET', maps), await bob('GET', '/apis')]).toEqual([403, 200]);
  });

  test('of another administrator, where that is said', async () => {
    await atoll('--user', 'carol', '--admin', '--expires', '1h');
    const carol = await user(out);
    expect([await carol('GET', '/clusters/*/api/v1/namespaces'), await carol('GET', '/backup')]).toEqual([
      200, 200,
    ]);
  });

  test.each<[string[], string]>([
    [['--user', 'x', '--group', 'system:masters'], '"system:masters": names that begin with system:'],
    [['--user', 'system:atoll:scheduler'], '"system:atoll:scheduler": names that begin with system:'],
    [['--user', ''], 'a user and groups have names'],
    [['--user', 'x\u2028y'], 'a name has characters that do not print'],
    [['--user', 'x', '--expires', 'soon'], '--expires soon: expected a duration, such as 90m, 8h or 30d'],
    [['--user', 'x', '--expires', '366d'], 'a certificate lasts between one minute and a year'],
    [['--user', 'x', '--expires', '10s'], 'a certificate lasts between one minute and a year'],
    [['--group', 'x'], '--group, --expires, --everywhere and --admin go with --user NAME'],
    [['root:a', '--expires', '1h'], '--group, --expires, --everywhere and --admin go with --user NAME'],
    [['root:a', '--logical-cluster', 'root:b'], 'two logical clusters: root:a and root:b'],
  ])('%j is wrong use', async (args, message) => {
    expect(await atoll(...args)).toBe(2);
    expect([out, err]).toEqual(['', expect.stringContaining(message)]);
  });

  test('a key is in the form that every client reads', async () => {
    for (const args of [['root:a'], ['root:a', '--user', 'ann']]) {
      out = '';
      expect([await atoll(...args), err]).toEqual([0, '']);
      const [, key] = /client-key-data: (\S+)/.exec(out) ?? [];
      expect(Buffer.from(key ?? '', 'base64').toString()).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
    }
  });

  test('the server refuses what the command does', async () => {
    const admin = await user(await (await import('node:fs/promises')).readFile(file, 'utf8'));
    const { privateKey: _, ...issued } = await createAuthority('x');
    const asked = { user: 'x', groups: [], expirationSeconds: 600, publicKey: issued.certificate };
    const wrong = [
      { groups: ['system:masters'] },
      { user: 'system:x' },
      { expirationSeconds: 1 },
      { expirationSeconds: 1e9 },
      {},
    ];
    for (const one of wrong)
      expect(await admin('POST', '/client-certificates', { ...asked, ...one })).toBe(400);
    expect(await admin('GET', '/client-certificates')).toBe(405);
  });
});

describe('atoll with a kubeconfig of a logical cluster', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'atoll-access-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const printed = async (...args: string[]) => {
    expect([await atoll(...args), err]).toEqual([0, '']);
    const path = join(directory, 'printed.yaml');
    await writeFile(path, out);
    [out, err] = ['', ''];
    return (...command: string[]) => main(['node', 'atoll', '--atoll-kubeconfig', path, ...command]);
  };

  test('does in all of the server what it does with the administrator’s own', async () => {
    const there = await printed('root:a');
    const commands = [
      ['cluster', 'list'],
      ['kubeconfig', 'root:b'],
      ['kubeconfig', 'root:b', '--user', 'ann'],
      ['backup', join(directory, 'all.backup')],
    ];
    for (const command of commands) expect([command, await there(...command), err]).toEqual([command, 0, '']);
  });

  test('says that it takes an administrator’s where it is none', async () => {
    const there = await printed('root:a', '--user', 'ann', '--group', 'developers');
    const commands = [
      ['cluster', 'list'],
      ['kubeconfig', 'root:b'],
      ['kubeconfig', '--user', 'bob'],
      ['backup', join(directory, 'none.backup')],
    ];
    for (const command of commands) {
      err = '';
      expect([command, await there(...command)]).toEqual([command, 1]);
      expect(err).toMatch(/^error: .*User "ann" cannot .*: this needs an administrator's kubeconfig\n$/);
    }
  });
});

describe('whoever may do everything in a logical cluster', () => {
  const clusters = '/apis/atoll.dev/v1alpha1/physicalclusters';
  let ann: Awaited<ReturnType<typeof user>>;
  beforeAll(async () => {
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ kind: 'User', apiGroup: rbac, name: 'owner' }];
    const binding = object('ClusterRoleBinding', 'owner', { roleRef, subjects });
    await world.admin.create(clusterBindings, binding, { cluster: 'root:a' });
  });
  beforeEach(async () => {
    await atoll('root:a', '--user', 'owner');
    ann = await user(out);
  });

  test('registers no physical cluster there, by whose word others would be placed', async () => {
    const spec = { kubeconfigSecretRef: { namespace: 'default', name: 'x' }, drain: true };
    const east = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: { name: 'east' },
      spec,
    };
    expect([await ann('POST', clusters, east), await ann('GET', clusters)]).toEqual([403, 200]);
    const admin = world.admin.with({ cluster: 'root:a' });
    await expect(admin.create(physicalclusters, east)).rejects.toMatchObject({ code: 403 });
  });

  // An owner that is not there would have it collected before its Workspace goes.
  test('neither keeps its Workspace from going nor ends it before', async () => {
    const url = '/apis/core.kcp.io/v1alpha1/logicalclusters/cluster';
    const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'never', uid: 'none' };
    const patch = { metadata: { finalizers: ['ann.example/stay'], ownerReferences: [owner] } };
    expect(await ann('PATCH', url, patch)).toBe(200);
    const at = { cluster: 'root:a', name: 'cluster' };
    const { metadata } = await world.admin.get(logicalClusters, at);
    expect(metadata.finalizers ?? []).not.toContain('ann.example/stay');
    expect(metadata.ownerReferences).toBeUndefined();
  });

  test('may know by her certificate what anybody may', async () => {
    const inRoot = await user(out, '');
    expect([await inRoot('GET', '/healthz'), await inRoot('GET', '/apis')]).toEqual([200, 403]);
  });
});

test('a ServiceAccount does what its RoleBinding says, in its logical cluster', async () => {
  const account = { ...into, name: 'robot' };
  const core = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
  await world.admin.create(serviceaccounts, core, into);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} };
  const made = await world.admin.create(serviceaccounts, request, { ...account, subresource: 'token' });
  const { token } = (made as KubeObject<unknown, { token: string }>).status ?? { token: '' };
  await atoll('root:a');
  const config = decodeYaml(out).value as { users: { user: object }[] };
  for (const one of config.users) one.user = { token };
  const text = encodeYaml(config as never);
  const robot = await user(text);
  const seen = [
    await robot('GET', maps),
    await robot('GET', '/api/v1/secrets'),
    await robot('DELETE', `${maps}/x`),
  ];
  expect(seen).toEqual([200, 403, 403]);
  for (const place of ['/clusters/root:b', '/clusters/*', '/clusters/root']) {
    expect([place, await (await user(text, place))('GET', maps)]).toEqual([place, 401]);
  }
  expect(await (await user(text, ''))('GET', maps)).toBe(200);
});
