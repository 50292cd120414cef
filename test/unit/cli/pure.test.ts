import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterState } from '../../../cli/cluster.ts';
import { explained, UsageError } from '../../../cli/errors.ts';
import { flatKubeconfig } from '../../../cli/flatten.ts';
import { age, table } from '../../../cli/output.ts';
import { progressText, Tally } from '../../../cli/progress.ts';
import { type Remaining, remainingOn } from '../../../cli/remaining.ts';
import { currentOf, mergedKubeconfig } from '../../../client/merged-kubeconfig.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import { StatusError } from '../../../kube/status.ts';
import { decodeYaml } from '../../../kube/yaml.ts';
import { adminKubeconfig, forLogicalCluster } from '../../../server/kubeconfig.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-cli-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('output', () => {
  test('columns are as wide as their widest cell, without trailing blanks', () => {
    expect(
      table(
        ['NAME', 'X'],
        [
          ['east', '1'],
          ['a-long-name', ''],
        ],
      ),
    ).toBe('NAME          X\neast          1\na-long-name');
  });

  test.each([
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [7200, '2h'],
    [172_800, '2d'],
    [-5, '0s'],
  ])('%i seconds are %s', (seconds, text) => {
    const now = Date.parse('2030-01-01T00:00:00Z');
    expect(age(new Date(now - seconds * 1000).toISOString(), now)).toBe(text);
  });

  test('a cluster’s state says what an admin did to it', () => {
    const cluster = (spec: object, status?: string) =>
      ({ spec, status: status && { conditions: [{ type: 'Ready', status }] } }) as unknown as PhysicalCluster;
    expect(clusterState(cluster({}))).toBe('Unknown');
    expect(clusterState(cluster({}, 'False'))).toBe('NotReady');
    expect(clusterState(cluster({ unschedulable: true }, 'True'))).toBe('Ready,SchedulingDisabled');
    expect(clusterState(cluster({ unschedulable: true, drain: true }, 'True'))).toBe('Ready,Draining');
    expect(clusterState(cluster({ rebalance: true }, 'True'))).toBe('Ready,Rebalancing');
  });
});

describe('a refusal', () => {
  const said = (message: string) => explained(new StatusError(403, 'Forbidden', message))?.message;

  test('by a role says whose kubeconfig it takes', () => {
    const message =
      'x is forbidden: User "ann" cannot list resource "x" in API group "" at the cluster scope';
    expect(said(message)).toBe(`${message} (Forbidden): this needs an administrator's kubeconfig`);
  });

  test('by admission does not: an administrator is refused, too', () => {
    const message = 'physicalclusters.atoll.dev "east" is forbidden: only root has them';
    expect(said(message)).toBe(`${message} (Forbidden)`);
  });
});

describe('what is left on a cluster', () => {
  const placement = (name: string, spec: object, status: object = {}): Placement =>
    ({
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'Placement',
      metadata: { name, namespace: 'shop', annotations: { 'kcp.io/cluster': 'root:a' } },
      spec: { ref: { group: 'apps', resource: 'deployments', name }, ...spec },
      status,
    }) as unknown as Placement;
  const workload = { requires: [] };

  test('a Job that has ended is not said to move', () => {
    const ref = { group: 'batch', resource: 'jobs', kind: 'Job', name: 'once' };
    const spec = { ref, clusters: ['west'], shares: { east: { phase: 'Active' } } };
    const stateOf = (conditions: object[]) => {
      const status = { clusters: { east: { present: true, status: { conditions } } } };
      return remainingOn('east', [placement('once', spec, status)])[0]?.state;
    };
    expect(stateOf([{ type: 'Complete', status: 'True' }])).toBe('it has ended: to be removed');
    expect(stateOf([])).toBe('moving to west');
  });

  test.each([
    [
      'another cluster’s',
      { ...workload, clusters: ['west'], shares: { west: { phase: 'Active' } } },
      undefined,
    ],
    [
      'blocked, with the reason',
      {
        ...workload,
        clusters: ['east'],
        blocked: true,
        reasons: { east: 'no other fits', west: 'needs 4 cpu, 1 left' },
        shares: { east: { phase: 'Active' } },
      },
      { state: 'no other fits; west: needs 4 cpu, 1 left', blocked: true, workload: true },
    ],
    [
      'not its turn',
      { clusters: ['east'], waits: ['east'], shares: { east: { phase: 'Active' } } },
      { state: 'waits for its turn', blocked: false, waits: true },
    ],
    [
      'not looked at yet: what it was told before says nothing',
      {
        clusters: ['east'],
        reasons: { east: 'named by its annotation' },
        shares: { east: { phase: 'Active' } },
      },
      { state: undefined, blocked: false, workload: true },
    ],
    [
      'about to go, a workload that uses nothing',
      { clusters: ['west'], shares: { east: { phase: 'Active' } } },
      { state: 'moving to west', blocked: false, workload: true },
    ],
    [
      'what a workload uses',
      {
        clusters: ['west'],
        ref: { group: '', resource: 'configmaps', name: 'web' },
        shares: { east: { phase: 'Leaving' } },
      },
      { workload: false, object: 'configmaps/web' },
    ],
    [
      'on its way',
      {
        ...workload,
        clusters: ['west'],
        shares: { east: { phase: 'Active' }, west: { phase: 'Joining', replicas: 4 } },
      },
      { state: 'joining west 3/4 ready', blocked: false },
    ],
    [
      'almost gone',
      { ...workload, clusters: ['west'], shares: { east: { phase: 'Leaving' } } },
      { state: 'leaving: being removed', blocked: false },
    ],
    [
      'left behind by what is deleted',
      {
        ...workload,
        clusters: [],
        ref: { group: 'apps', resource: 'deployments', name: 'web', uid: 'u' },
        orphaned: 'u',
        shares: { east: { phase: 'Leaving' } },
      },
      { state: expect.stringContaining('left its pods behind'), blocked: true },
    ],
    [
      'deleted',
      { ...workload, clusters: [], shares: { east: { phase: 'Active' } } },
      { state: 'being removed' },
    ],
  ])('%s', (_what, spec, expected) => {
    const status = { clusters: { west: { present: true, status: { readyReplicas: 3 } } } };
    const [found] = remainingOn('east', [placement('web', spec, status)]);
    if (expected === undefined) expect(found).toBeUndefined();
    else
      expect(found).toMatchObject({ logicalCluster: 'root:a', object: 'deployments.apps/web', ...expected });
  });

  test('what ends where it has started is not said to move', () => {
    const message = 'still on east; it has started there, and ends there';
    const conditions = [{ type: 'Settled', status: 'False', reason: 'Leaving', message }];
    const ref = { group: 'batch', resource: 'jobs', name: 'web' };
    const spec = { ref, clusters: ['west'], shares: { east: { phase: 'Active' } } };
    expect(remainingOn('east', [placement('web', spec, { conditions })])[0]?.state).toBe(message);
  });

  test('what waits for a cluster that does not answer, says since when', () => {
    const since = 'has not answered since 2030-01-01T00:00:00Z';
    const message = `cluster north ${since}; cluster west ${since}`;
    const conditions = [{ type: 'ClustersHeard', status: 'False', reason: 'ClusterSilent', message }];
    const joining = { phase: 'Joining', replicas: 4 };
    const shares = { east: { phase: 'Active' }, west: joining, south: joining };
    const all = [placement('web', { clusters: ['south', 'west'], shares }, { conditions })];
    expect(remainingOn('east', all)[0]?.state).toBe(
      `waiting for west, which ${since}, joining south 0/4 ready`,
    );
  });

  test('workloads come first', () => {
    const shares = { east: { phase: 'Active' } };
    const all = [
      placement('a', { ref: { group: '', resource: 'configmaps', name: 'a' }, clusters: [], shares }),
      placement('b', { clusters: [], shares }),
    ];
    expect(remainingOn('east', all).map(({ object }) => object)).toEqual([
      'deployments.apps/b',
      'configmaps/a',
    ]);
  });
});

describe('how far a drain is', () => {
  test.each([
    [{ moved: 0, total: 1 }, '0 of 1 workload moved'],
    [{ moved: 1, total: 3, waiting: 1 }, '1 of 3 workloads moved, 1 waits for its turn'],
    [
      { moved: 1, total: 9, waiting: 7, slowest: { object: 'x', state: 'joining west', seconds: 4 } },
      '1 of 9 workloads moved, 7 wait for their turn; slowest: x, for 4 s: joining west',
    ],
  ])('%j', (progress, text) => expect(progressText(progress)).toBe(text));

  test('counts those that wait, who are not on their way', () => {
    const counted = new Tally().count(
      [item('a', { state: 'waits for its turn', waits: true }), item('b')],
      1,
    );
    expect(counted).toMatchObject({
      total: 2,
      waiting: 1,
      slowest: { object: 'root/shop/deployments.apps/b' },
    });
  });

  const item = (name: string, more: Partial<Remaining> = {}): Remaining => ({
    logicalCluster: 'root',
    namespace: 'shop',
    object: `deployments.apps/${name}`,
    workload: true,
    state: 'joining west 1/3 ready',
    blocked: false,
    waits: false,
    ...more,
  });

  test('counts workloads, and names the one that has been on its way for the longest', () => {
    const tally = new Tally();
    const waiting = { state: undefined };
    const claim = item('x', { object: 'persistentvolumeclaims/x', workload: false });
    expect(tally.count([item('a', waiting), item('b', waiting), claim], 1000)).toEqual({
      moved: 0,
      total: 2,
    });
    expect(tally.count([item('a', waiting), item('b')], 2000).slowest).toMatchObject({ seconds: 0 });
    expect(tally.count([item('a'), item('b'), item('new', waiting)], 5000)).toEqual({
      moved: 0,
      total: 3,
      slowest: { object: 'root/shop/deployments.apps/b', state: 'joining west 1/3 ready', seconds: 3 },
    });
    expect(tally.count([item('a'), claim], 9500)).toEqual({
      moved: 2,
      total: 3,
      slowest: { object: 'root/shop/deployments.apps/a', state: 'joining west 1/3 ready', seconds: 4 },
    });
    expect(tally.count([claim], 10_000)).toEqual({ moved: 3, total: 3 });
  });

  test('what is blocked is not on its way, and begins anew when it is let go', () => {
    const tally = new Tally();
    tally.count([item('a')], 1000);
    expect(tally.count([item('a', { blocked: true })], 2000)).toEqual({ moved: 0, total: 1 });
    expect(tally.count([item('a')], 7000).slowest?.seconds).toBe(0);
  });

  test('in words', () => {
    expect(progressText({ moved: 1, total: 1 })).toBe('1 of 1 workload moved');
    const slowest = {
      object: 'root/shop/deployments.apps/web',
      state: 'joining west 1/3 ready',
      seconds: 42,
    };
    expect(progressText({ moved: 3, total: 12, slowest })).toBe(
      '3 of 12 workloads moved; slowest: root/shop/deployments.apps/web, for 42 s: joining west 1/3 ready',
    );
  });
});

describe('kubeconfigs', () => {
  const admin = adminKubeconfig({
    server: 'https://h:1',
    ca: 'CA',
    certificate: 'C',
    privateKey: 'K',
    token: 'T',
  });
  const parse = (text: string) => decodeYaml(text).value as Record<string, never>;

  test('the administrator’s has one context', () => {
    expect(parse(admin)).toMatchObject({
      'current-context': 'root',
      clusters: [{ cluster: { server: 'https://h:1', 'certificate-authority-data': 'Q0E=' } }],
      users: [{ user: { token: 'T', 'client-key-data': 'Sw==' } }],
    });
  });

  test('another logical cluster’s differs by server and names', () => {
    const team = forLogicalCluster(admin, 'root:team-a');
    expect(parse(team)).toMatchObject({
      'current-context': 'root:team-a',
      clusters: [{ name: 'atoll-root:team-a', cluster: { server: 'https://h:1/clusters/root:team-a' } }],
      contexts: [{ name: 'root:team-a', context: { cluster: 'atoll-root:team-a', user: 'admin' } }],
    });
    expect(parse(forLogicalCluster(team, 'root:b'))).toMatchObject({
      clusters: [{ cluster: { server: 'https://h:1/clusters/root:b' } }],
    });
    const prod = admin.replaceAll(/\batoll$/gm, 'prod');
    expect(parse(forLogicalCluster(prod, 'root'))).toMatchObject({ clusters: [{ name: 'prod' }] });
  });

  test('each leads to its own logical cluster where several are merged', () => {
    const team = forLogicalCluster(admin, 'root:team-a');
    const texts = [team, forLogicalCluster(team, 'root'), forLogicalCluster(team, 'root:b')];
    for (const files of [texts, texts.toReversed()]) {
      const merged = mergedKubeconfig(files.map((text) => ({ path: 'f', text })));
      const servers = ['root', 'root:team-a', 'root:b'].map((context) => {
        const chosen = `current-context: ${context}`;
        const { cluster } = currentOf(merged.replace(/current-context: .*/, chosen));
        return cluster?.fields['server'];
      });
      const root = 'https://h:1';
      expect(servers).toEqual([root, `${root}/clusters/root:team-a`, `${root}/clusters/root:b`]);
    }
  });

  test.each([
    ['current-context: root', 'current-context: gone', 'the kubeconfig has no current cluster'],
    ['cluster: atoll\n', 'cluster: gone\n', 'the kubeconfig has no current cluster'],
    ['user: admin\n', 'user: gone\n', 'the kubeconfig has no current user'],
  ])('nobody else’s stands in for what is missing: %j, %j', (from, to, message) => {
    const text = admin.replace(from, to);
    expect(text).not.toBe(admin);
    expect(() => forLogicalCluster(text, 'root')).toThrow(new UsageError(message));
  });

  test('a physical cluster’s is flattened: files become data', async () => {
    const ca = join(directory, 'ca.pem');
    const path = join(directory, 'files.yaml');
    await writeFile(ca, 'CA');
    const files = admin.replace(/certificate-authority-data: .*/, `certificate-authority: ${ca}`);
    await writeFile(path, files);
    expect(parse(await flatKubeconfig(path, undefined))).toMatchObject({
      'current-context': 'physical',
      clusters: [{ cluster: { 'certificate-authority-data': 'Q0E=' } }],
    });
    await rm(ca);
    await expect(flatKubeconfig(path, undefined)).rejects.toThrow('names a file that cannot be read');
  });

  test('commands, missing contexts and missing files are refused in words', async () => {
    const path = join(directory, 'exec.yaml');
    const exec =
      'exec: { apiVersion: client.authentication.k8s.io/v1, command: evil, interactiveMode: Never }';
    await writeFile(path, admin.replace('token: T', exec));
    await expect(flatKubeconfig(path, undefined)).rejects.toThrow('needs a command to log in');
    await writeFile(path, admin);
    await expect(flatKubeconfig(path, 'other')).rejects.toThrow(`--kubeconfig ${path} has no context other`);
    await writeFile(path, admin.replace('current-context: root', ''));
    await expect(flatKubeconfig(path, undefined)).rejects.toThrow(
      `--kubeconfig ${path} has no current context: name one by --context (root)`,
    );
    await writeFile(path, admin.replace('user: admin\n', 'user: gone\n'));
    await expect(flatKubeconfig(path, undefined)).rejects.toThrow('context root whose cluster or user');
    await writeFile(path, 'a: b');
    await expect(flatKubeconfig(path, undefined)).rejects.toThrow(
      `--kubeconfig ${path} is no kubeconfig: it has no contexts`,
    );
    await expect(flatKubeconfig(join(directory, 'none'), undefined)).rejects.toThrow('cannot be read');
  });
});
