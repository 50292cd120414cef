import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../controller/shards.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../sim/cluster.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { follow } from '../atoll/follow.ts';
import { atoll, kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { type Etcd, startEtcd } from '../etcd/etcd.ts';
import { kubectl as binary } from '../kubernetes/kubernetes.ts';

let etcd: Etcd;
let one: Atoll;
let two: Atoll;
let directory = '';
let prefixes = 0;

beforeAll(async () => {
  etcd = await startEtcd({ fsync: true });
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-etcd-'));
});
afterAll(async () => {
  await etcd.stop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  const args = ['--storage', `etcd://${etcd.endpoint}/e2e-${prefixes++}`];
  [one, two] = await Promise.all([startAtoll({ args }), startAtoll({ args })]);
});
afterEach(() => Promise.all([one.dispose(), two.dispose()]));

const apply = async (server: Atoll, object: object) => {
  const file = join(directory, 'object.json');
  await writeFile(file, JSON.stringify(object));
  await must(server.kubeconfig, 'apply', '-f', file);
};

describe('an etcd that nobody answers for', () => {
  it('ends the start with its address, not in silence', async () => {
    const flags = ['--data-dir', directory, '--listen', '127.0.0.1:0', '--storage', 'etcd://127.0.0.1:9'];
    const { code, stdout } = await atoll(one.kubeconfig, 'start', ...flags);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^error: .*127\.0\.0\.1:9/m);
  });
});

describe('two servers on one etcd', () => {
  it('trust the same certificates and tokens', async () => {
    // Each one's kubeconfig against the other.
    for (const [mine, other] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(await must(mine.kubeconfig, '--server', other.url, 'get', 'ns', '-o', 'name')).toContain(
        'namespace/default',
      );
      await must(mine.kubeconfig, '--server', other.url, '--token', 'none', 'get', 'ns');
    }
    expect(
      (await kubectl(one.kubeconfig, '--server', two.url, '--user', 'nobody', 'get', 'ns')).code,
    ).not.toBe(0);
  });

  it('a definition made at one is served by the other within a second', async () => {
    await apply(one, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    });
    await until(
      'widgets at the other server',
      1,
      async () => (await kubectl(two.kubeconfig, 'get', 'widgets')).code === 0,
    );
    await apply(two, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
    });
    expect(await must(one.kubeconfig, 'get', 'widgets', '-o', 'name')).toBe('widget.example.com/w\n');
  });

  it('a right given and taken back at one counts at the other within a second', async () => {
    const ann = join(directory, 'ann.yaml');
    const made = await atoll(one.kubeconfig, 'kubeconfig', 'root', '--user', 'ann', '-o', ann);
    expect(made).toMatchObject({ code: 0 });
    const may = async () => (await kubectl(ann, '--server', two.url, 'get', 'configmaps')).code === 0;
    expect(await may()).toBe(false);
    for (let turn = 0; turn < 3; turn++) {
      const binding = ['clusterrolebinding', 'ann'];
      await must(one.kubeconfig, 'create', ...binding, '--clusterrole', 'view', '--user', 'ann');
      await until('the right counts', 1, may);
      await must(one.kubeconfig, 'delete', ...binding);
      await until('the right is gone', 1, async () => !(await may()));
    }
  });

  it('what is stored at one counts at the other towards a logical cluster’s limit', async () => {
    await apply(one, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'team' },
      spec: { limits: { objects: 40 } },
    });
    const ready = ['--for', 'jsonpath={.status.phase}=Ready', '--timeout', '240s'];
    await must(one.kubeconfig, 'wait', ...ready, 'workspace/team');
    const at = (server: Atoll, ...args: string[]) =>
      kubectl(server.kubeconfig, '--server', `${server.url}/clusters/root:team`, ...args);
    let stored = 0;
    let last = { code: 0, stderr: '' };
    while (last.code === 0 && stored < 50) {
      last = await at(one, 'create', 'configmap', `c-${stored}`);
      if (last.code === 0) stored++;
    }
    expect(last.stderr).toContain('exceeded limits of logical cluster root:team');
    expect(stored).toBeGreaterThan(5);
    await until('the other refuses, too', 1, async () =>
      (await at(two, 'create', 'configmap', 'more')).stderr.includes('exceeded limits'),
    );
    expect(await at(two, 'delete', 'configmap', 'c-0', 'c-1')).toMatchObject({ code: 0 });
    await until(
      'there is room again',
      1,
      async () => (await at(one, 'create', 'configmap', 'again')).code === 0,
    );
  });

  it('have their part of the physical clusters each, and all of them when the other is gone', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `far-${i}`);
    // Whether anybody answers there does not matter to whose it is.
    const kubeconfig = kubeconfigOf('https://127.0.0.1:9');
    for (const name of names) {
      const metadata = { name, namespace: 'default' };
      await apply(one, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig } });
      await apply(one, {
        apiVersion: 'atoll.dev/v1alpha1',
        kind: 'PhysicalCluster',
        metadata: { name },
        spec: { kubeconfigSecretRef: metadata },
      });
    }
    const led = (server: Atoll) => names.filter((name) => leads(server, `syncers/${name}`));
    const shared = () => led(one).length > 0 && led(two).length > 0;
    const all = (...servers: Atoll[]) => servers.flatMap(led).sort().join() === [...names].sort().join();
    await until('each has a part', 40, async () => shared() && all(one, two));
    const servers = () => must(one.kubeconfig, 'get', 'lease', '-n', 'kube-system', '-o', 'name');
    expect((await servers()).match(/lease.coordination.k8s.io\/atoll-/g)).toHaveLength(2);
    await two.kill();
    await until('the other has them all', 40, async () => all(one));
    await two.restart();
    await until('it has a part again', 60, async () => shared() && all(one, two));
  });

  it('lose no acknowledged write and no event while each is killed in turn', async () => {
    const seen = follow([one, two]);
    const shown = print(two);
    const acknowledged: string[] = [];
    const stop = new AbortController();
    const writing = write([one, two], acknowledged, stop.signal);
    const more = async (count: number) => {
      const target = acknowledged.length + count;
      await until(`${count} more writes`, 60, async () => acknowledged.length >= target);
    };
    await more(8);
    await one.kill();
    await more(8);
    await one.restart();
    await more(4);
    // The watch of kubectl ends with its server; what it showed until then is judged.
    const shownUntil = acknowledged.length - 1;
    await until('kubectl shows what was written', 20, async () =>
      acknowledged.slice(0, shownUntil).every((name) => shown.names.includes(name)),
    );
    shown.stop();
    await two.kill();
    await more(8);
    await two.restart();
    await more(4);
    stop.abort();
    await writing;
    const { items } = await mustJson<{ items: KubeObject[] }>(two.kubeconfig, 'get', 'cm', '-l', 'app=e2e');
    const stored = items.map(({ metadata }) => metadata.name ?? '');
    expect(acknowledged.filter((name) => !stored.includes(name))).toEqual([]);
    await until('every write is seen by the watches', 20, async () =>
      seen.every(({ added }) => stored.every((name) => added.has(name))),
    );
    for (const one of seen) {
      expect(one.faults).toEqual([]);
      expect(one.resumed).toBeGreaterThan(0);
      one.stop();
    }
  });
});

describe('a move from one cluster to another', () => {
  let clusters: SimulatedCluster[];
  beforeEach(async () => {
    clusters = await Promise.all(
      ['east', 'west'].map((name, i) => startSimulatedCluster({ name, seed: i + 1 })),
    );
    for (const { name, kubeconfig } of clusters) {
      const file = join(directory, `${name}.kubeconfig`);
      await writeFile(file, kubeconfig);
      expect((await atoll(one.kubeconfig, 'cluster', 'add', name, '--kubeconfig', file)).code).toBe(0);
    }
    await apply(one, deployment);
    await runsOn('east');
  });
  afterEach(() => Promise.all(clusters.map((cluster) => cluster.stop())));

  const replicas = 4;
  const labels = { app: 'web' };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', annotations: { 'atoll.dev/clusters': 'east' } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web:1' }] } },
    },
  };
  const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
  type Deployment = KubeObject<{ replicas?: number }, { readyReplicas?: number }>;

  async function ready(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { name, client } of clusters) {
      const { items } = await client.list<Deployment>(deployments, {});
      counts[name] = items.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
    }
    return counts;
  }

  async function runsOn(name: string): Promise<void> {
    const want = { east: 0, west: 0, [name]: replicas };
    await until(`web runs on ${name} alone`, 60, async () => {
      expect(await ready()).toEqual(want);
      return true;
    });
  }

  /** The lowest number of ready replicas of all clusters together. */
  function lowest(): { stop(): Promise<number> } {
    let least = Number.POSITIVE_INFINITY;
    let over = false;
    const sampling = (async () => {
      while (!over) {
        const counts = await ready().catch(() => ({ none: Number.POSITIVE_INFINITY }));
        least = Math.min(
          least,
          Object.values(counts).reduce((sum, n) => sum + n, 0),
        );
        await sleep(20);
      }
    })();
    return {
      stop: async () => {
        over = true;
        await sampling;
        return least;
      },
    };
  }

  const leader = (): [Atoll, Atoll] => (leads(two) ? [two, one] : [one, two]);

  async function moving(to: string): Promise<void> {
    await until('the move has begun', 30, async () => ((await ready())[to] ?? 0) > 0);
  }

  it('completes when the leader is killed in the middle', async () => {
    const [killed, other] = leader();
    const least = lowest();
    await must(other.kubeconfig, 'annotate', '--overwrite', 'deploy/web', 'atoll.dev/clusters=west');
    await moving('west');
    await killed.kill();
    await runsOn('west');
    expect(await least.stop()).toBeGreaterThanOrEqual(replicas - 1);
    // The move may have been over by then.
    await until('the other leads', 60, async () => leads(other));
  });

  it('completes when the leader is stopped in the middle; when it goes on, it changes nothing', async () => {
    const [paused, other] = leader();
    const least = lowest();
    await must(other.kubeconfig, 'annotate', '--overwrite', 'deploy/web', 'atoll.dev/clusters=west');
    await moving('west');
    process.kill(paused.pid, 'SIGSTOP');
    await runsOn('west');
    await must(other.kubeconfig, 'annotate', '--overwrite', 'deploy/web', 'atoll.dev/clusters=east');
    await runsOn('east');
    await must(other.kubeconfig, 'rollout', 'status', 'deploy/web', '--timeout=120s');
    const before = await quiet(other);
    expect(leads(other)).toBe(true);
    process.kill(paused.pid, 'SIGCONT');
    await until('it has noticed', 20, async () => !leads(paused));
    // Longer than any of its controllers and syncers waits before it tries again.
    await sleep(3000);
    expect(await world(other)).toEqual(before);
    expect(await least.stop()).toBeGreaterThanOrEqual(replicas - 1);
    // It is a server like any other.
    expect(await must(paused.kubeconfig, 'get', 'deploy', 'web', '-o', 'name')).toContain('web');
  });

  /** The world after its leader has nothing left to do. */
  async function quiet(server: Atoll): Promise<string[]> {
    for (let before = await world(server); ; ) {
      await sleep(3000);
      const after = await world(server);
      if (after.join() === before.join()) return after;
      before = after;
    }
  }

  /** Versions of all that a controller or a syncer could have changed. */
  async function world(server: Atoll): Promise<string[]> {
    const versions: string[] = [];
    const note = (where: string, items: KubeObject[]) => {
      for (const { kind, metadata } of items) {
        versions.push(`${where} ${kind} ${metadata.name} ${metadata.resourceVersion}`);
      }
    };
    for (const kind of ['deploy', 'placements.atoll.dev', 'pods', 'rs', 'ns']) {
      note('root', (await mustJson<{ items: KubeObject[] }>(server.kubeconfig, 'get', kind, '-A')).items);
    }
    for (const { name, client } of clusters) {
      note(name, (await client.list(deployments, {})).items);
      note(name, (await client.list({ group: '', version: 'v1', resource: 'pods' }, {})).items);
    }
    return versions.sort();
  }
});

function kubeconfigOf(server: string): string {
  const named = (kind: string, value: object) => [{ name: 'x', [kind]: value }];
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: named('cluster', { server }),
    users: named('user', {}),
    contexts: named('context', { cluster: 'x', user: 'x' }),
    'current-context': 'x',
  });
}

/** Of what splits root's workloads. */
const ofRoot = `controllers-shard-${shardOf('root')}`;

/** Whether the server said last that it leads them. */
function leads(server: Atoll, lease = ofRoot): boolean {
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.includes(`"lease":"${lease}"`));
  return lines.at(-1)?.includes('"msg":"leading"') ?? false;
}

/** One kubectl after the other, at whichever server answers. */
async function write(servers: readonly Atoll[], acknowledged: string[], signal: AbortSignal): Promise<void> {
  for (let n = 0, at = 0; !signal.aborted; n++) {
    const name = `c${n}`;
    for (;;) {
      const server = servers[at % servers.length];
      if (server === undefined) return;
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { app: 'e2e' } } };
      const { code, stderr } = await pipe(server.kubeconfig, JSON.stringify(manifest));
      // An attempt whose answer was lost may have happened.
      if (code === 0 || stderr.includes('AlreadyExists')) break;
      at++;
      await sleep(100);
    }
    acknowledged.push(name);
  }
}

function pipe(kubeconfig: string, text: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(binary, ['--kubeconfig', kubeconfig, '--request-timeout=10s', 'create', '-f', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin.end(text);
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, stderr })));
}

/** What `kubectl get -w` prints at a server. */
function print(server: Atoll): { names: string[]; stop(): void } {
  const flags = ['get', 'cm', '-l', 'app=e2e', '-w', '-o', 'name'];
  const child = spawn(binary, ['--kubeconfig', server.kubeconfig, ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const names: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    names.push(...[...chunk.matchAll(/configmap\/(\S+)/g)].map((match) => match[1] ?? ''));
  });
  return { names, stop: () => child.kill('SIGKILL') };
}
