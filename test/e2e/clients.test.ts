import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, until } from '../atoll/kubectl.ts';
import { goClients, pythonClients, released } from '../clients/programs.ts';
import { type Difference, runSession, sessions } from '../clients/session.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

const run = promisify(execFile);
const clients = new URL('../clients/', import.meta.url).pathname;

let server: Atoll;
let oracle: Kubernetes;
let east: Kubernetes;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'atoll-clients-'));
  [oracle, east] = await Promise.all([
    startKubernetes({ name: 'oracle', nodes: 1 }),
    startKubernetes({ name: 'east', nodes: 1 }),
  ]);
  server = await startAtoll();
  const added = await atoll(server.kubeconfig, 'cluster', 'add', 'east', '--kubeconfig', east.kubeconfig);
  expect(added.stderr).toBe('');
});

afterAll(async () => {
  await server?.dispose();
  await Promise.all([oracle?.stop(), east?.stop()]);
  await rm(dir, { recursive: true, force: true });
});

const describeDifference = ({ session, line, theirs, ours }: Difference) =>
  `${session}: kubectl ${line}\n--- Kubernetes\n${theirs}\n--- Atoll\n${ours}`;

/** All of them with every version take ten minutes: `make clients`. */
const versions = ['1.20', '1.27', '1.30', '1.33', '1.36'];
const chosen = async () => (process.env['CLIENTS'] === 'all' ? await sessions() : ['apply']);

describe('kubectl says the same to Atoll and to Kubernetes', () => {
  it.each(versions)('kubectl %s', { timeout: 900_000 }, async (version) => {
    const programs = await released(version);
    if (typeof programs === 'string') throw new Error(programs);
    const all = (await chosen()).map(async (session) => {
      const side = (name: string, kubeconfig: string) => ({
        kubeconfig,
        dir: join(dir, version, session, name),
      });
      const ran = await runSession({
        kubectl: programs.kubectl,
        session,
        namespace: `k${version.replace('.', '')}${session}`,
        theirs: side('theirs', oracle.kubeconfig),
        ours: side('ours', server.kubeconfig),
        settleMs: 60_000,
      });
      expect(ran.steps).toBeGreaterThan(20);
      return ran.differences;
    });
    expect((await Promise.all(all)).flat().map(describeDifference)).toEqual([]);
  });
});

/** The output of a program that ends with 1 at the first thing that does not work. */
async function output(program: string, args: string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: server.kubeconfig };
  const { stdout } = await run(program, args, { env, timeout: 290_000 }).catch(
    (error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout;
}

describe('other clients', () => {
  it('client-go: informers, elections, apply, events, paging, watch lists', {
    timeout: 720_000,
  }, async () => {
    const built = await goClients();
    if (typeof built === 'string') throw new Error(built);
    const told = await output(built.program, [server.kubeconfig, 'go']);
    expect(told).not.toContain('FAIL');
    expect(told).toContain('ok watch application/vnd.kubernetes.protobuf');
  });

  it('the Python client: typed and dynamic', { timeout: 720_000 }, async () => {
    const built = await pythonClients();
    if (typeof built === 'string') throw new Error(built);
    const told = await output(built.program, [
      join(clients, 'python', 'clients.py'),
      server.kubeconfig,
      'python',
    ]);
    expect(told).toContain('ok namespace deleted');
  });

  it('@kubernetes/client-node: an informer', async () => {
    const config = new KubeConfig();
    config.loadFromFile(server.kubeconfig);
    const core = config.makeApiClient(CoreV1Api);
    const namespace = 'node';
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    const list = () => core.listNamespacedConfigMap({ namespace });
    const seen: string[] = [];
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
    const note = (what: string) => (map: V1ConfigMap) => {
      if (map.metadata?.name === 'mine') seen.push(`${what} ${map.data?.['n']}`);
    };
    informer.on('add', note('add'));
    informer.on('update', note('update'));
    informer.on('delete', note('delete'));
    await informer.start();
    const body = { metadata: { name: 'mine' }, data: { n: '1' } };
    await core.createNamespacedConfigMap({ namespace, body });
    await core.replaceNamespacedConfigMap({ namespace, name: 'mine', body: { ...body, data: { n: '2' } } });
    await core.deleteNamespacedConfigMap({ namespace, name: 'mine' });
    await until('all was seen', 20, async () => seen.length === 3);
    expect(seen).toEqual(['add 1', 'update 2', 'delete 2']);
    await informer.stop();
  });

  it.each(['1.30', '1.33'])('helm of %s: install, upgrade, roll back, uninstall', async (version) => {
    const programs = await released(version);
    if (typeof programs === 'string') throw new Error(programs);
    const namespace = `helm${version.replace('.', '')}`;
    const helm = (...args: string[]) => output(programs.helm, [...args, '--namespace', namespace]);
    const chart = join(clients, 'chart');
    const wait = ['--wait', '--timeout', '180s'];
    const get = (...args: string[]) => must(server.kubeconfig, 'get', '-n', namespace, ...args);
    expect(await helm('install', 'shop', chart, '--create-namespace', ...wait)).toContain('STATUS: deployed');
    expect(await get('cm', 'shop-settings', '-o', 'jsonpath={.data}')).toBe(
      '{"colour":"blue","deployments":"yes","revision":"1","server":"36"}',
    );
    await helm('upgrade', 'shop', chart, '--set', 'replicas=2,colour=red', ...wait);
    // helm looks at its ReplicaSet.
    await until('the Deployment says so, too', 30, async () => {
      return (await get('deploy', 'shop', '-o', 'jsonpath={.status.readyReplicas}')) === '2';
    });
    await helm('rollback', 'shop', '1', ...wait);
    expect(await get('cm', 'shop-settings', '-o', 'jsonpath={.data.colour}')).toBe('blue');
    expect(await helm('history', 'shop', '-o', 'json')).toContain('"description":"Rollback to 1"');
    await helm('uninstall', 'shop', '--wait');
    expect(await get('deploy,svc,cm', '-o', 'name')).toBe('configmap/kube-root-ca.crt\n');
  });
});
