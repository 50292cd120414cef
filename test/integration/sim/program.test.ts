import { execFile, spawn } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';
import { clustersAnnotation, placements, reflectedFromAnnotation } from '../../../cluster/names.ts';
import type { Placement } from '../../../cluster/types.ts';
import { isStatusError } from '../../../kube/status.ts';
import { resources } from '../../../sim/resources.ts';
import type { Pod, Workload } from '../../../sim/types.ts';
import { type Atoll, program, startAtoll } from '../../atoll/atoll.ts';
import { until } from '../../world/objects.ts';

const run = promisify(execFile);
let demo: Atoll;
let client: Client;

beforeAll(async () => {
  demo = await startAtoll({ command: 'demo' });
  client = new Client(await transportFromKubeconfigFile(demo.kubeconfig));
});
afterAll(() => demo?.dispose());

const namespace = 'default';
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const web = { namespace, name: 'web' };

/** On which clusters the pods of web are that are not stopping. */
async function where(): Promise<string[]> {
  const { items } = await client.list<Pod>(resources.pods, { namespace, labelSelector: 'tier=web' });
  const living = items.filter((pod) => !pod.metadata.deletionTimestamp);
  return [...new Set(living.map((pod) => pod.metadata.annotations?.[reflectedFromAnnotation] ?? ''))].sort();
}

async function untilOn(clusters: string[], watch: () => Promise<void> = async () => {}): Promise<void> {
  await until(`web is on ${clusters}`, async () => {
    if ((await where()).join() === clusters.join()) return true;
    await watch();
    return false;
  });
}

async function atoll(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, ATOLL_KUBECONFIG: demo.kubeconfig };
  try {
    return { code: 0, ...(await run(process.execPath, [program, ...args], { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('atoll demo', () => {
  test('ends with the app on both clusters, and an administrator’s kubeconfig that only its owner reads', async () => {
    // The clusters' pods are mirrored a moment after they are ready there.
    await untilOn(['east', 'west']);
    expect((await stat(demo.kubeconfig)).mode & 0o777).toBe(0o600);
    // Where a cluster joins, its pods are ready before the others go: for a moment there are more than asked for.
    await expect
      .poll(async () => {
        const { items } = await client.list<Workload>(resources.deployments, { namespace });
        return items.map(({ metadata, status }) => [metadata.name, status?.['readyReplicas']]).sort();
      })
      .toEqual([
        ['api', 3],
        ['store', 2],
        ['web', 4],
      ]);
  });

  test('a move never dips below what was asked for', async () => {
    let least = 4;
    await client.patch(resources.deployments, web, 'merge', {
      metadata: { annotations: { [clustersAnnotation]: 'west' } },
    });
    await untilOn(['west'], async () => {
      const { status } = await client.get<Workload>(resources.deployments, web);
      least = Math.min(least, Number(status?.['readyReplicas'] ?? 0));
    });
    expect(least).toBe(4);
    await client.patch(resources.deployments, web, 'merge', {
      metadata: { annotations: { [clustersAnnotation]: null } },
    });
    await untilOn(['east', 'west']);
  });

  test('what is deleted with propagationPolicy Orphan runs on, until one of the same name adopts it', async () => {
    const named = { namespace, labelSelector: 'tier=web' };
    const pods = async () =>
      (await client.list(resources.pods, named)).items.map((p) => p.metadata.uid).sort();
    const owners = async () =>
      (await client.list(resources.replicaSets, named)).items.flatMap(
        (set) => set.metadata.ownerReferences ?? [],
      );
    await until('the move is over', async () => {
      const placement = await client.get<Placement>(placements, { namespace, name: 'web.deployments.apps' });
      const settled = placement.status?.conditions?.find(({ type }) => type === 'Settled');
      return settled?.status === 'True' && (await pods()).length === 4;
    });
    const before = await pods();
    const { apiVersion, kind, spec, metadata } = await client.get<Workload>(resources.deployments, web);
    const same = { apiVersion, kind, spec, metadata: { ...web, labels: metadata.labels ?? {} } };
    await client.delete(resources.deployments, web, { propagationPolicy: 'Orphan' });
    await until('nobody owns the ReplicaSet', async () => (await owners()).length === 0);
    expect(await pods()).toEqual(before);
    await until('its name is free', async () =>
      client.create(resources.deployments, same).then(
        () => true,
        (error) => !isStatusError(error, 'AlreadyExists'),
      ),
    );
    const { uid } = (await client.get(resources.deployments, web)).metadata;
    await until('adopted', async () => (await owners()).some((owner) => owner.uid === uid));
    await until('all are ready', async () => {
      const { status } = await client.get<Workload>(resources.deployments, web);
      return status?.['readyReplicas'] === 4;
    });
    expect(await pods()).toEqual(before);
  });

  test('drain empties a cluster, uncordon takes it back', async () => {
    const { code, stdout } = await atoll('drain', 'east', '--timeout', '180');
    expect(stdout).toMatch(
      /physicalcluster.atoll.dev\/east cordoned\n[\s\S]*physicalcluster.atoll.dev\/east drained\n$/,
    );
    expect(code).toBe(0);
    expect(await where()).toEqual(['west']);
    expect((await atoll('cluster', 'list')).stdout).toMatch(/^east +Ready,Draining /m);
    expect((await atoll('uncordon', 'east', '-o', 'json')).code).toBe(0);
    await untilOn(['east', 'west']);
    expect((await atoll('cluster', 'remove', 'east')).stderr).toMatch(/^error: east still holds \d+ objects/);
  });

  test('no cluster joins twice, nor does Atoll join itself', async () => {
    const file = join(demo.dataDir, 'east.yaml');
    const secret = { namespace: 'atoll-system', name: 'physicalcluster-east' };
    const { data } = (await client.get(secrets, secret)) as { data?: Record<string, string> };
    await writeFile(file, Buffer.from(data?.['kubeconfig'] ?? '', 'base64'));
    expect(await atoll('cluster', 'add', 'again', '--kubeconfig', file)).toMatchObject({
      code: 1,
      stderr: 'error: this is cluster east, which is registered already: nothing was changed\n',
    });
    expect(await atoll('cluster', 'add', 'self', '--kubeconfig', demo.kubeconfig)).toMatchObject({
      code: 1,
      stderr: 'error: this is Atoll itself, which cannot be a physical cluster of its own\n',
    });
    expect((await atoll('cluster', 'list')).stdout).not.toMatch(/again|self/);
  });

  test('Ctrl-C ends the waiting for a drain, and says that the drain goes on', async () => {
    const place = (where: string | null) =>
      client.patch(resources.deployments, web, 'merge', {
        metadata: { annotations: { [clustersAnnotation]: where } },
      });
    // Nothing else may run it: the drain waits.
    await place('east');
    await untilOn(['east']);
    const env = { ...process.env, ATOLL_KUBECONFIG: demo.kubeconfig };
    const child = spawn(process.execPath, [program, 'drain', 'east'], { env });
    let [out, err, asked] = ['', '', false];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      // Once: a second one ends the command at once, and the drain may well tell more before it has gone.
      if (!asked && out.includes('blocked: ')) asked = child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect({ code, err }).toEqual({
      code: 130,
      err: '\nthe drain of east goes on without this command; atoll uncordon east takes it back\n',
    });
    expect(out).toMatch(
      /deployments.apps\/web {2}blocked: it is being drained, but its annotation names no other: it stays/,
    );
    expect((await atoll('uncordon', 'east')).code).toBe(0);
    await place(null);
  });

  test('what cannot be done exits 1, and says so in a line', async () => {
    const { code, stderr } = await atoll('drain', 'north');
    expect([code, stderr]).toEqual([1, 'error: no physical cluster north; there are: east, west\n']);
  });

  test('a logical cluster’s kubeconfig', async () => {
    const workspaces = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' };
    const apiVersion = 'tenancy.kcp.io/v1alpha1';
    await client.create(workspaces, { apiVersion, kind: 'Workspace', metadata: { name: 'team-a' } });
    const answer = await until('its kubeconfig is given', async () => {
      const given = await atoll('kubeconfig', 'root:team-a');
      return given.code === 0 ? given : undefined;
    });
    expect(answer.stdout).toContain(`server: ${demo.url}/clusters/root:team-a`);
    expect(await atoll('kubeconfig', 'nosuch')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: no logical cluster nosuch; there are: root, root:team-a\n',
    });
  });

  test('starts again on the same data, and a signal ends it with 0', async () => {
    await demo.restart();
    await untilOn(['east', 'west']);
    expect(await demo.terminate()).toBe(0);
  });
});
