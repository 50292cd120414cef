import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Extension, group, gv, startExtension, version } from '../aggregation/extension.ts';
import { aggregatorFlags } from '../aggregation/kubernetes.ts';
import { machineAddress } from '../aggregation/sample.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

interface Side {
  kubeconfig: string;
  extension: Extension;
}

let folder: string;
let kubernetes: Kubernetes;
let atoll: Atoll;
let sides: Side[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aggregation-'));
  [kubernetes, atoll] = await Promise.all([
    startKubernetes({ apiOnly: true, flags: await aggregatorFlags(folder) }),
    startAtoll({ args: ['--egress-allow', `${machineAddress}/32`] }),
  ]);
  const tenant = await logicalCluster(atoll, 'team-a');
  sides = await Promise.all(
    [kubernetes.kubeconfig, tenant].map(async (kubeconfig) => ({
      kubeconfig,
      extension: await startExtension('0.0.0.0'),
    })),
  );
  for (const side of sides) await register(side);
});

afterAll(async () => {
  for (const { extension } of sides ?? []) await extension.close();
  await Promise.all([kubernetes?.stop(), atoll?.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

async function register({ kubeconfig, extension }: Side): Promise<void> {
  const config = await authentication(kubeconfig);
  extension.trust(config['requestheader-client-ca-file'] ?? '');
  const { port, caBundle } = extension;
  const metadata = { name: 'wardle', namespace: 'default' };
  const label = { 'kubernetes.io/service-name': 'wardle' };
  const items = [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 443, targetPort: port }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: label },
      addressType: 'IPv4',
      ports: [{ name: '', port, protocol: 'TCP' }],
      endpoints: [{ addresses: [machineAddress], conditions: { ready: true } }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { name: 'wardle', namespace: 'default' },
        caBundle,
      },
    },
  ];
  await apply(kubeconfig, { apiVersion: 'v1', kind: 'List', items });
  await becomes({ kubeconfig }, 'True');
}

async function apply(kubeconfig: string, object: object, ...flags: string[]): Promise<string> {
  const file = join(folder, `${Math.random()}.json`);
  await writeFile(file, JSON.stringify(object));
  return must(kubeconfig, 'create', '-f', file, ...flags);
}

async function authentication(kubeconfig: string): Promise<Record<string, string>> {
  const of = ['get', 'configmap', 'extension-apiserver-authentication', '-n', 'kube-system'];
  let data: Record<string, string> = {};
  await until('the ConfigMap', 60, async () => {
    const { stdout } = await kubectl(kubeconfig, ...of, '-o', 'json');
    data = stdout ? JSON.parse(stdout).data : {};
    return data['requestheader-client-ca-file'] !== undefined;
  });
  return data;
}

interface Available {
  status?: { conditions?: { status: string; reason: string; message: string }[] };
}

async function becomes(
  { kubeconfig }: Pick<Side, 'kubeconfig'>,
  status: string,
): Promise<{ reason?: string }> {
  let condition: { status?: string; reason?: string } = {};
  await until(`available: ${status}`, 90, async () => {
    const found = await mustJson<Available>(kubeconfig, 'get', 'apiservice', `${version}.${group}`);
    condition = found.status?.conditions?.[0] ?? {};
    return condition.status === status;
  });
  return { ...(condition.reason !== undefined && { reason: condition.reason }) };
}

/** On both sides; the ages in tables are not compared. */
async function both(...args: string[]): Promise<void> {
  const said = await Promise.all(
    sides.map(async ({ kubeconfig }) => {
      const { code, stdout, stderr } = await kubectl(kubeconfig, ...args);
      return { code, stdout: stdout.replace(/(\d+[smh])+\s*$/gm, 'AGE'), stderr };
    }),
  );
  expect(said[1], args.join(' ')).toEqual(said[0]);
}

test('what servers are told of us is as on Kubernetes, but for the authorities themselves', async () => {
  const [there, here] = await Promise.all(sides.map(({ kubeconfig }) => authentication(kubeconfig)));
  const plain = (of: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !name.endsWith('-ca-file')));
  expect(plain(here)).toEqual(plain(there));
});

test('kubectl finds, makes, lists, watches and deletes what another API server serves, as on Kubernetes', async () => {
  await both('api-resources', `--api-group=${group}`, '--no-headers');
  await both('get', 'flunders');
  const flunder = { apiVersion: gv, kind: 'Flunder', metadata: { name: 'a' }, spec: { color: 'red' } };
  for (const { kubeconfig } of sides) await apply(kubeconfig, flunder, '--validate=false');
  await both('get', 'fl', '-A');
  await both('get', 'flunder', 'a', '-o', 'jsonpath={.spec.color}');
  await both('get', 'flunder', 'b');
  await both('get', '--raw', `/apis/${gv}`);
  await both('get', '--raw', `/apis/${group}`);
  const seen = await Promise.all(
    sides.map(async ({ kubeconfig, extension }) => {
      const ended = kubectl(kubeconfig, 'wait', 'flunder', 'a', '--for=delete', '--timeout=60s');
      // What is gone before it is first asked for is waited for without a word.
      await until('kubectl watches', 30, async () =>
        extension.asked.some(({ url }) => /[?&]fieldSelector=metadata\.name%3Da&.*watch=true/.test(url)),
      );
      await must(kubeconfig, 'delete', 'flunder', 'a', '--wait=false');
      const { code, stdout } = await ended;
      return { code, stdout };
    }),
  );
  expect(seen.map(({ code }) => code)).toEqual([0, 0]);
  expect(seen[1]).toEqual(seen[0]);
  await both('get', 'flunders', '-o', 'name');
});

test('the server is told who asks as on Kubernetes', async () => {
  const headers = await Promise.all(
    sides.map(async ({ kubeconfig, extension }) => {
      await must(
        kubeconfig,
        'create',
        'clusterrolebinding',
        'ann',
        '--clusterrole=cluster-admin',
        '--user=ann',
      );
      await must(
        kubeconfig,
        'get',
        '--raw',
        `/apis/${gv}/flunders`,
        '--as=ann',
        '--as-group=a,b',
        '--as-uid=7',
      );
      const { headers, shown } =
        extension.asked.filter(({ url }) => url === `/apis/${gv}/flunders`).at(-1) ?? {};
      const told = Object.entries(headers ?? {}).filter(([name]) =>
        /^(x-remote|authorization|impersonate)/.test(name),
      );
      return { shown, told: Object.fromEntries(told) };
    }),
  );
  expect(headers[1]?.told).toMatchObject({ 'x-remote-user': 'ann', 'x-remote-uid': '7' });
  expect(headers[1]?.shown).toBe(headers[0]?.shown);
});

test('while it does not answer both say so, and go on with the rest', async () => {
  for (const { extension } of sides) {
    extension.instead = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
  }
  const reasons = await Promise.all(sides.map((side) => becomes(side, 'False')));
  expect(reasons[1]).toEqual(reasons[0]);
  // Whoever passes requests on hears of it beside whoever shows it.
  await until('both say so to whoever asks', 30, async () => {
    await both('get', '--raw', `/apis/${gv}/flunders`);
    return true;
  });
  await both('get', 'configmaps', '-o', 'name', '-l', 'none=here');
  for (const { extension } of sides) extension.instead = undefined;
  await Promise.all(sides.map((side) => becomes(side, 'True')));
});

test('after a kill its server knows us by the authority that it read before', async () => {
  const here = sides[1];
  if (here === undefined) throw new Error('there are two sides');
  const before = await authentication(here.kubeconfig);
  await atoll.kill();
  await atoll.restart();
  await must(here.kubeconfig, 'get', 'flunders');
  expect(here.extension.asked.at(-1)?.shown).toBe('front-proxy-client');
  expect(await authentication(here.kubeconfig)).toEqual(before);
});
