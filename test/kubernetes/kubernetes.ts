import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority } from '../../apiserver/tls/ca.ts';
import { kwokConfig, nodeObjects, withEndings } from './kwok.ts';

const run = promisify(execFile);

/** Where test/kubernetes/build puts its programs. */
export const programs =
  process.env['KUBERNETES_BIN'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kubernetes-reference', '1.36.3');

export const kubectl: string = join(programs, 'kubectl');

export interface Kubernetes {
  name: string;
  url: string;
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  token: string;
  ca: string;
  /** The process ids of kube-apiserver and etcd, for measuring them. */
  pids: { apiserver: number; etcd: number };
  /** `host:port` of its etcd. */
  etcd: string;
  /** Stops the API server from answering without closing its sockets: a partition. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface KubernetesOptions {
  name?: string;
  nodes?: number;
  /** `fast`: pods are ready at once. `general`: each step takes 1 to 6 s. `ending`: at once, and those of Jobs end as they are told. */
  pods?: 'fast' | 'general' | 'ending';
  /** Labels of pods that kwok leaves to test/kubelet. */
  served?: string;
  /** By ports of pods: to which port of this machine a port-forward leads. */
  forwards?: Readonly<Record<number, number>>;
  /** etcd with fsync, as in production: for benchmarks. */
  fsync?: boolean;
  /** Only etcd and kube-apiserver, pods without ServiceAccounts: for benchmarks and comparisons of answers. */
  apiOnly?: boolean;
  /** Beside that: pods have ServiceAccounts, which somebody has to make. */
  accounts?: boolean;
  /** Beside that: its controllers, which make those and collect what is nobody's. */
  controllers?: boolean;
  /** Of kube-apiserver, beside its own. */
  flags?: readonly string[];
}

/** A real Kubernetes 1.36 on loopback: etcd, kube-apiserver, its controllers and scheduler, kwok as kubelets. */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  if (!existsSync(join(programs, 'kube-apiserver'))) {
    throw new Error(`no kube-apiserver in ${programs}: run make kubernetes first`);
  }
  const name = options.name ?? 'physical';
  const dir = await mkdtemp(join(tmpdir(), `atoll-${name}-`));
  const children = new Map<string, ChildProcess>();
  const stop = async () => {
    for (const child of [...children.values()].reverse()) await kill(child);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    return await boot(name, dir, options, children, stop);
  } catch (error) {
    const logs = await Promise.all([...children.keys()].map((what) => tail(join(dir, `${what}.log`))));
    await stop();
    throw new Error(`cluster ${name} did not start\n${logs.join('\n')}`, { cause: error });
  }
}

async function boot(
  name: string,
  dir: string,
  options: KubernetesOptions,
  children: Map<string, ChildProcess>,
  stop: () => Promise<void>,
): Promise<Kubernetes> {
  const ca = await writeKeys(dir, name);
  const [port, etcd, peer, kubelet, manager, scheduler] = await freePorts(6);
  const token = randomBytes(16).toString('hex');
  await writeFile(join(dir, 'tokens.csv'), `${token},admin,,system:masters\n`);
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigText(name, url, ca, token), { mode: 0o600 });
  const start = async (what: string, args: string[]) => {
    const log = await open(join(dir, `${what}.log`), 'a');
    const child = spawn(join(programs, what), args, { cwd: dir, stdio: ['ignore', log.fd, log.fd] });
    children.set(what, child);
    await log.close();
    return child;
  };
  await start(
    'etcd',
    etcdFlags(`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`, options.fsync ?? false),
  );
  await start('kube-apiserver', [
    ...apiserverFlags(String(port), `http://127.0.0.1:${etcd}`),
    ...(options.flags?.includes('--authorization-config') ? [] : ['--authorization-mode', 'Node,RBAC']),
    ...(options.apiOnly && !options.accounts && !options.controllers
      ? ['--disable-admission-plugins', 'ServiceAccount']
      : []),
    ...(options.flags ?? []),
  ]);
  const ctl = (...args: string[]) => run(kubectl, ['--kubeconfig', kubeconfig, ...args], { timeout: 30_000 });
  await eventually(180, children, () => ctl('get', '--raw', '/readyz'));
  // All that follows starts at a time, and is waited for in the end.
  const hasControllers = !options.apiOnly || options.controllers === true;
  if (hasControllers) await start('kube-controller-manager', managerFlags(String(manager)));
  if (!options.apiOnly) {
    await start('kube-scheduler', [
      '--kubeconfig',
      'kubeconfig',
      '--leader-elect=false',
      '--bind-address',
      '127.0.0.1',
      '--secure-port',
      String(scheduler),
    ]);
    await writeFile(
      join(dir, 'pod.log'),
      `2026-01-01T00:00:00.000000000Z stdout F hello from a pod of ${name}\n`,
    );
    await mkdir(join(dir, 'scratch'));
    const { pods = 'fast' } = options;
    const file = join(programs, 'stages', `${pods === 'ending' ? 'fast' : pods}.yaml`);
    const stages = await readFile(file, 'utf8');
    await writeFile(
      join(dir, 'kwok.yaml'),
      kwokConfig(pods === 'ending' ? withEndings(stages) : stages, dir, options.forwards),
    );
    await start('kwok', kwokFlags(String(kubelet), options.served));
    await writeFile(join(dir, 'nodes.yaml'), nodeObjects(name, options.nodes ?? 2));
    await eventually(120, children, () => ctl('apply', '-f', join(dir, 'nodes.yaml')));
    await eventually(180, children, () =>
      ctl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=1s'),
    );
  }
  if (hasControllers) await eventually(180, children, () => ctl('get', 'serviceaccount', 'default'));
  const api = children.get('kube-apiserver');
  const pids = { apiserver: api?.pid ?? 0, etcd: children.get('etcd')?.pid ?? 0 };
  return {
    name,
    url,
    kubeconfig,
    token,
    ca,
    pids,
    stop,
    etcd: `127.0.0.1:${etcd}`,
    pause: () => void api?.kill('SIGSTOP'),
    resume: () => void api?.kill('SIGCONT'),
  };
}

async function writeKeys(dir: string, name: string): Promise<string> {
  const authority = await createAuthority(`${name}-ca`);
  const server = await authority.issueServer([
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    '127.0.0.1',
    '10.0.0.1',
  ]);
  const account = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const files = {
    'ca.crt': authority.certificate,
    'ca.key': authority.privateKey,
    'server.crt': server.certificate,
    'server.key': server.privateKey,
    'sa.key': account.privateKey,
    'sa.pub': account.publicKey,
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(dir, file), text);
  return authority.certificate;
}

function kubeconfigText(name: string, server: string, ca: string, token: string): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name, context: { cluster: name, user: 'admin' } }],
    'current-context': name,
  });
}

function etcdFlags(client: string, peer: string, fsync: boolean): string[] {
  return [
    '--data-dir',
    'etcd',
    '--log-level',
    'error',
    ...(fsync ? [] : ['--unsafe-no-fsync']),
    '--listen-client-urls',
    client,
    '--advertise-client-urls',
    client,
    '--listen-peer-urls',
    peer,
  ];
}

function apiserverFlags(port: string, etcd: string): string[] {
  return [
    '--etcd-servers',
    etcd,
    '--bind-address',
    '127.0.0.1',
    '--secure-port',
    port,

    '--tls-cert-file',
    'server.crt',
    '--tls-private-key-file',
    'server.key',
    '--client-ca-file',
    'ca.crt',
    '--token-auth-file',
    'tokens.csv',
    '--allow-privileged',
    '--service-cluster-ip-range',
    '10.0.0.0/16',
    '--endpoint-reconciler-type',
    'none',
    '--service-account-issuer',
    'https://kubernetes.default.svc',
    '--service-account-key-file',
    'sa.pub',
    '--service-account-signing-key-file',
    'sa.key',
  ];
}

function managerFlags(port: string): string[] {
  return [
    '--kubeconfig',
    'kubeconfig',
    '--leader-elect=false',
    '--secure-port',
    port,
    '--bind-address',
    '127.0.0.1',
    '--use-service-account-credentials',
    '--service-account-private-key-file',
    'sa.key',
    '--horizontal-pod-autoscaler-sync-period',
    '1s',

    '--root-ca-file',
    'ca.crt',
    '--cluster-signing-cert-file',
    'ca.crt',
    '--cluster-signing-key-file',
    'ca.key',
  ];
}

function kwokFlags(port: string, served?: string): string[] {
  return [
    '--config',
    'kwok.yaml',
    '--kubeconfig',
    'kubeconfig',
    '--manage-all-nodes',
    ...(served === undefined ? [] : ['--disregard-status-with-label-selector', served]),
    '--node-ip',
    '127.0.0.1',
    '--node-port',
    port,
    '--cidr',
    '10.64.0.0/16',
    '--node-lease-duration-seconds',
    '40',
    '--tls-cert-file',
    'server.crt',
    '--tls-private-key-file',
    'server.key',
  ];
}

/** Given to a cluster of this process, which may not listen yet: two that start at a time must not choose one. */
const given = new Set<number>();

/** Ports that are free now, below the range the kernel gives to outgoing connections. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (given.has(port)) continue;
    given.add(port);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) ports.add(port);
  }
  return [...ports];
}

async function eventually(
  seconds: number,
  children: Map<string, ChildProcess>,
  attempt: () => Promise<unknown>,
) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const ended = [...children].find(([, child]) => child.exitCode !== null);
      if (ended) throw new Error(`${ended[0]} ended`, { cause: error });
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGCONT');
  child.kill('SIGKILL');
  await ended;
}

async function tail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return `${file}:\n${text.split('\n').slice(-8).join('\n')}`;
}
