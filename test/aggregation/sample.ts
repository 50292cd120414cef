import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { must, mustJson, until } from '../atoll/kubectl.ts';
import { freePort } from '../etcd/etcd.ts';
import { accountKubeconfig } from '../operators/account.ts';

const build = new URL('build', import.meta.url).pathname;

/** Of this machine, where servers beside the clusters are: no EndpointSlice may lead to loopback. */
export const machineAddress: string =
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '';

/** Kubernetes' sample API server, unmodified, where test/aggregation/build puts it. */
export async function buildSample(): Promise<string> {
  const { stdout } = await promisify(execFile)(build, { timeout: 1_500_000 });
  return stdout.trim();
}

export interface Sample {
  /** The manifests of a flunder that come with it. */
  flunder: string;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** What its libraries watch since 1.36, and its own role does not say: until they may, nothing is made. */
const name = 'aggregated-apiserver-more';
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } };
export const watchedSince: readonly object[] = [
  {
    ...rbac,
    kind: 'ClusterRole',
    rules: [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
        verbs: ['get', 'watch', 'list'],
      },
    ],
  },
  {
    ...rbac,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'apiserver', namespace: 'wardle' }],
  },
];

/**
 * Installs it as its own manifests say, but that it runs beside the cluster: its Service has no selector and a slice that
 * leads here. Resolves when it is available. `dir` is its own, and so is `prefix` in the etcd.
 */
export async function startSample(
  built: string,
  { kubeconfig, dir, etcd }: { kubeconfig: string; dir: string; etcd: string },
): Promise<Sample> {
  await mkdir(dir, { recursive: true });
  const manifest = (name: string) => join(built, 'example', `${name}.yaml`);
  for (const name of ['ns', 'sa', 'rbac', 'rbac-bind', 'auth-delegator', 'auth-reader']) {
    await must(kubeconfig, 'create', '-f', manifest(name));
  }
  const more = join(dir, 'more.json');
  await writeFile(more, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: watchedSince }));
  await must(kubeconfig, 'create', '-f', more);
  const port = await freePort();
  const account = await accountKubeconfig(kubeconfig, 'wardle', 'apiserver', dir);
  const log = await open(join(dir, 'log'), 'a');
  const flags = [
    `--etcd-servers=http://${etcd}`,
    `--etcd-prefix=/${dir.split('/').at(-1)}`,
    `--secure-port=${port}`,
    `--cert-dir=${dir}`,
    ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
      (flag) => `--${flag}=${account}`,
    ),
  ];
  const child = spawn(join(built, 'sample-apiserver'), flags, { stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const service = load(await readFile(manifest('service'), 'utf8')) as { spec: Record<string, unknown> };
  delete service.spec['selector'];
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'api', namespace: 'wardle', labels: { 'kubernetes.io/service-name': 'api' } },
    addressType: 'IPv4',
    ports: [{ name: '', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [machineAddress], conditions: { ready: true } }],
  };
  const ways = join(dir, 'ways.json');
  await writeFile(ways, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, slice] }));
  await must(kubeconfig, 'create', '-f', ways);
  await must(kubeconfig, 'create', '-f', manifest('apiservice'));
  const running: Sample = {
    flunder: join(built, 'flunders', '01-flunder.yaml'),
    log: () => readFile(join(dir, 'log'), 'utf8'),
    stop: () => stop(child),
  };
  try {
    await until('its group is available', 60, () => isAvailable(kubeconfig));
  } catch (error) {
    await running.stop();
    throw new Error(`the sample API server said:\n${(await running.log()).slice(-3000)}`, { cause: error });
  }
  return running;
}

export async function isAvailable(kubeconfig: string): Promise<boolean> {
  const { status } = await mustJson<{ status?: { conditions?: { type: string; status: string }[] } }>(
    kubeconfig,
    'get',
    'apiservice',
    'v1alpha1.wardle.example.com',
  );
  return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
