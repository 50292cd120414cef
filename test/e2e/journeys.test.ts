import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, kubectl, must, mustJson, sampleReady, until } from '../atoll/kubectl.ts';
import { portForward } from '../atoll/portforward.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

const shop = new URL('../../sim/samples/shop.yaml', import.meta.url).pathname;
/** What the user asked for less the Deployment's own maxUnavailable: web 4 - 1, api 3 - 0, store 2 - 0. */
const floors: Readonly<Record<string, number>> = { web: 3, api: 3, store: 2 };

interface Deployment extends KubeObject {
  spec: { replicas: number };
  status?: { readyReplicas?: number; observedGeneration?: number };
}
interface List<T> {
  items: T[];
}

let server: Atoll;
const physical = new Map<string, Kubernetes>();

beforeAll(async () => {
  const [east, west] = await Promise.all([
    startKubernetes({ name: 'east', nodes: 2 }),
    startKubernetes({ name: 'west', nodes: 2 }),
  ]);
  physical.set('east', east).set('west', west);
  server = await startAtoll();
});

afterAll(async () => {
  await server?.dispose();
  await Promise.all([...physical.values()].map((cluster) => cluster.stop()));
});

async function deploymentsReady(seconds = 60): Promise<void> {
  await until('every Deployment ready', seconds, async () => {
    const { items } = await mustJson<List<Deployment>>(server.kubeconfig, 'get', 'deploy');
    const ready = (d: Deployment) =>
      d.status?.readyReplicas === d.spec.replicas && d.status?.observedGeneration === d.metadata.generation;
    return items.length === 3 && items.every(ready);
  });
}

/** Ready replicas of each Deployment that a physical cluster really runs for us. */
async function running(name: string): Promise<Record<string, number>> {
  const config = physical.get(name)?.kubeconfig ?? '';
  const { items } = await mustJson<List<Deployment>>(
    config,
    'get',
    'deploy',
    '-A',
    '-l',
    'atoll.dev/managed-by',
  );
  return Object.fromEntries(items.map((d) => [d.metadata.name ?? '', d.status?.readyReplicas ?? 0]));
}

async function expectRunning(name: string, want: Record<string, number>): Promise<void> {
  await until(`${name} runs ${JSON.stringify(want)}`, 90, async () => {
    const have = await running(name);
    expect(have).toEqual(want);
    return true;
  });
}

describe('the five journeys, on two real clusters', () => {
  it('joins a real cluster', async () => {
    for (const [name, cluster] of physical) {
      const added = await atoll(
        server.kubeconfig,
        'cluster',
        'add',
        name,
        '--kubeconfig',
        cluster.kubeconfig,
      );
      expect(added).toMatchObject({ code: 0, stdout: `physicalcluster.atoll.dev/${name} joined\n` });
    }
    const listed = await atoll(server.kubeconfig, 'cluster', 'list');
    expect(listed.stdout).toMatch(/east\s+Ready\s+v1\.36/);
    expect(listed.stdout).toMatch(/west\s+Ready\s+v1\.36/);
  });

  it('applies an app: Deployments ready, pods with nodes, logs', async () => {
    await must(server.kubeconfig, 'apply', '-f', shop);
    await deploymentsReady();
    // Pods come up beside the status of what they are of.
    await until('each pod is shown with its node', 30, async () => {
      const wide = await must(server.kubeconfig, 'get', 'pods', '-o', 'wide', '--no-headers');
      const rows = wide.trim().split('\n');
      expect(rows).toHaveLength(9);
      for (const row of rows) expect(row).toMatch(/1\/1\s+Running.*\s(east|west)-[12]\s/);
      return true;
    });
    const logs = await must(server.kubeconfig, 'logs', 'deploy/web');
    expect(logs).toMatch(/hello from a pod of (east|west)/);
    expect(await must(server.kubeconfig, 'rollout', 'status', 'deploy/web', '--timeout=60s')).toContain(
      'successfully rolled out',
    );
  });

  it('works in a pod: exec, port-forward', async () => {
    expect(await must(server.kubeconfig, 'exec', 'deploy/web', '--', 'echo', 'from inside')).toBe(
      'from inside\n',
    );
    const forward = await portForward(server.kubeconfig, 'deploy/web', 8080);
    expect(await forward.exchange('ping\n')).toBe('ping\n');
    forward.stop();
    const refused = await kubectl(server.kubeconfig, 'exec', 'no-such-pod', '--', 'true');
    expect(refused.stderr).toContain('pods "no-such-pod" not found');
  });

  it('applies again with what Kubernetes says to a second apply', async () => {
    const oracle = physical.get('east')?.kubeconfig ?? '';
    await must(oracle, 'create', 'ns', 'oracle');
    await must(oracle, 'apply', '-n', 'oracle', '-f', shop);
    const theirs = await must(oracle, 'apply', '-n', 'oracle', '-f', shop);
    const ours = await must(server.kubeconfig, 'apply', '-f', shop);
    expect(ours).toBe(theirs);
    expect(ours).toContain('deployment.apps/web unchanged');
    await must(oracle, 'delete', 'ns', 'oracle');
  });

  it('moves one Deployment without a dip', async () => {
    const samples = await sampleReady(server.kubeconfig, 'default');
    const target = (await running('east'))['web'] ? 'west' : 'east';
    await must(server.kubeconfig, 'annotate', 'deploy', 'web', `atoll.dev/clusters=${target}`, '--overwrite');
    await until('web runs only there', 90, async () => {
      const [here, there] = [await running(target), await running(target === 'east' ? 'west' : 'east')];
      return here['web'] === 4 && there['web'] === undefined;
    });
    await samples.stop();
    expect(samples.lowest.get('web')).toBeGreaterThanOrEqual(floors['web'] ?? 0);
    await must(server.kubeconfig, 'annotate', 'deploy', 'web', 'atoll.dev/clusters-');
  });

  it('spreads a namespace over both clusters', async () => {
    const samples = await sampleReady(server.kubeconfig, 'default');
    await must(server.kubeconfig, 'annotate', 'ns', 'default', 'atoll.dev/clusters=east,west', '--overwrite');
    await until('both run half', 90, async () => {
      const [east, west] = [await running('east'), await running('west')];
      const sum = (app: string) => (east[app] ?? 0) + (west[app] ?? 0);
      const spread = (app: string) => (east[app] ?? 0) > 0 && (west[app] ?? 0) > 0;
      return (
        ['web', 'api', 'store'].every((app) => spread(app)) &&
        sum('web') === 4 &&
        sum('api') === 3 &&
        sum('store') === 2
      );
    });
    await deploymentsReady();
    await samples.stop();
    for (const [app, floor] of Object.entries(floors))
      expect(samples.lowest.get(app)).toBeGreaterThanOrEqual(floor);
  });

  it('drains a cluster to nothing, without a dip, and takes it back', async () => {
    const samples = await sampleReady(server.kubeconfig, 'default');
    const drained = await atoll(server.kubeconfig, 'drain', 'east', '--timeout', '180');
    expect(drained.stderr).toBe('');
    expect(drained.code).toBe(0);
    expect(drained.stdout).toMatch(
      /root\/default\/deployments\.apps\/web {2}(joining west \d\/4 ready|withdrawing|leaving|left east)/,
    );
    expect(drained.stdout).toContain('physicalcluster.atoll.dev/east drained');
    await expectRunning('east', {});
    await expectRunning('west', { web: 4, api: 3, store: 2 });
    await samples.stop();
    for (const [app, floor] of Object.entries(floors))
      expect(samples.lowest.get(app)).toBeGreaterThanOrEqual(floor);
    const left = await must(
      physical.get('east')?.kubeconfig ?? '',
      'get',
      'all,cm,secret,hpa,pdb',
      '-A',
      '-l',
      'atoll.dev/managed-by',
      '-o',
      'name',
    );
    expect(left.trim()).toBe('');
    expect((await atoll(server.kubeconfig, 'uncordon', 'east')).code).toBe(0);
    await until('east takes its half again', 90, async () => (await running('east'))['web'] === 2);
  });

  it('says why something cannot leave, and exits 1', async () => {
    await must(server.kubeconfig, 'create', 'deployment', 'pinned', '--image=registry.example/pinned:1');
    await must(server.kubeconfig, 'annotate', 'deploy', 'pinned', 'atoll.dev/clusters=east');
    await until('pinned runs on east', 60, async () => (await running('east'))['pinned'] === 1);
    const drained = await atoll(server.kubeconfig, 'drain', 'east', '--timeout', '180');
    expect(drained.code).toBe(1);
    expect(drained.stderr).toContain('root/default/deployments.apps/pinned');
    expect((await running('east'))['pinned']).toBe(1);
    await atoll(server.kubeconfig, 'uncordon', 'east');
    await must(server.kubeconfig, 'delete', 'deploy', 'pinned');
    await until('pinned is gone', 60, async () => (await running('east'))['pinned'] === undefined);
  });
});

describe('faults', () => {
  it('finishes a move after kill -9 at five random points', async () => {
    await must(server.kubeconfig, 'annotate', 'ns', 'default', 'atoll.dev/clusters=east', '--overwrite');
    await until(
      'all on east',
      90,
      async () => (await running('east'))['web'] === 4 && Object.keys(await running('west')).length === 0,
    );
    for (const [round, to] of ['west', 'east', 'west', 'east', 'west'].entries()) {
      await must(server.kubeconfig, 'annotate', 'ns', 'default', `atoll.dev/clusters=${to}`, '--overwrite');
      const delay = Math.random() * 4000;
      await new Promise((resolve) => setTimeout(resolve, delay));
      const from = to === 'east' ? 'west' : 'east';
      const floorHolds = async () => {
        // In this order: what comes between the two is counted twice, and never what goes between them not at all.
        const [leaves, comes] = [await running(from), await running(to)];
        for (const [app, floor] of Object.entries(floors)) {
          expect(
            (leaves[app] ?? 0) + (comes[app] ?? 0),
            `${app}, round ${round}, killed after ${delay} ms`,
          ).toBeGreaterThanOrEqual(floor);
        }
      };
      await server.restart();
      await floorHolds();
      await expectRunning(to, { web: 4, api: 3, store: 2 });
      await expectRunning(from, {});
      await floorHolds();
    }
    await until('nine pods are reflected', 30, async () => {
      const now = await mustJson<List<KubeObject>>(server.kubeconfig, 'get', 'pods');
      return now.items.length === 9;
    });
  });

  it('keeps the workloads of a cluster that stops answering, and says since when', async () => {
    const west = physical.get('west');
    west?.pause();
    try {
      await until('west is not Ready', 120, async () => {
        const object = await mustJson<
          KubeObject<unknown, { conditions: { type: string; status: string; message: string }[] }>
        >(server.kubeconfig, 'get', 'physicalcluster', 'west');
        const ready = object.status?.conditions.find((c) => c.type === 'Ready');
        return ready !== undefined && ready.status !== 'True' && ready.message !== '';
      });
      const { items } = await mustJson<List<Deployment>>(server.kubeconfig, 'get', 'deploy');
      expect(items.map((d) => d.metadata.name).sort()).toEqual(['api', 'store', 'web']);
      await must(server.kubeconfig, 'create', 'ns', 'elsewhere');
      await must(
        server.kubeconfig,
        'create',
        'deployment',
        'goes-on',
        '--image=registry.example/x:1',
        '-n',
        'elsewhere',
      );
      await until('everything else goes on', 60, async () => (await running('east'))['goes-on'] === 1);
    } finally {
      west?.resume();
    }
    await expectRunning('west', { web: 4, api: 3, store: 2 });
  });
});

describe('bad input', () => {
  it.each([
    ['an unknown kind', ['get', 'unicorns'], /the server doesn't have a resource type "unicorns"/],
    [
      'a bad name',
      ['create', 'cm', 'Bad_Name'],
      /ConfigMap "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name"/,
    ],
    ['an unknown namespace', ['create', 'cm', 'x', '-n', 'nowhere'], /namespaces "nowhere" not found/],
    [
      'an unknown physical cluster',
      ['annotate', 'ns', 'default', 'atoll.dev/clusters=mars', '--overwrite'],
      /no physical cluster is named mars; known: east,west/,
    ],
  ])('%s', async (_what, args, message) => {
    const { code, stderr } = await kubectl(server.kubeconfig, ...args);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  it('answers malformed and oversized bodies as kube-apiserver does', async () => {
    const kubernetes = physical.get('east');
    const { Client } = await import('../../client/client.ts');
    const { transportFromKubeconfigFile } = await import('../../client/kubeconfig.ts');
    const ask = async (kubeconfig: string, body: string) => {
      const transport = await transportFromKubeconfigFile(kubeconfig);
      const answer = await new Client(transport).raw({
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps',
        body: Buffer.from(body),
      });
      transport.close();
      const status = JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as {
        reason: string;
        code: number;
      };
      return [answer.status, status.reason, status.code];
    };
    const big = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'big' },
      data: { x: 'x'.repeat(3 << 20) },
    });
    for (const body of ['{"kind":', big, '[]']) {
      expect(await ask(server.kubeconfig, body)).toEqual(await ask(kubernetes?.kubeconfig ?? '', body));
    }
  });
});
