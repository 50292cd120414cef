import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { definitions } from '../../server/metrics/definitions.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, until } from '../atoll/kubectl.ts';
import { freePort } from '../etcd/etcd.ts';
import { KmsPlugin } from '../kms/plugin.ts';

const run = promisify(execFile);
const rules = resolve(import.meta.dirname, '../../deploy/prometheus');

let server: Atoll;
let directory = '';
let prometheus: { url: string; child: ChildProcess } | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-metrics-'));
  server = await startAtoll({ args: ['--controllers-process', 'on'] });
});
afterEach(async () => {
  prometheus?.child.kill('SIGKILL');
  prometheus = undefined;
  await server.dispose();
  await rm(directory, { recursive: true, force: true });
});

it('say from the start on that the server is ready', async () => {
  const page = await must(server.kubeconfig, 'get', '--raw', '/metrics/slis');
  expect(page).toContain('kubernetes_healthcheck{name="store",type="readyz"} 1');
});

/** An account that may read them and nothing else, as docs/reference/metrics.md says to make one. */
async function tokenOfAMonitor(): Promise<string> {
  const { kubeconfig } = server;
  const account = ['prometheus', '-n', 'kube-system'];
  await must(kubeconfig, 'create', 'serviceaccount', ...account);
  const role = ['--clusterrole', 'system:monitoring', '--serviceaccount', 'kube-system:prometheus'];
  await must(kubeconfig, 'create', 'clusterrolebinding', 'prometheus', ...role);
  return (await must(kubeconfig, 'create', 'token', ...account, '--duration', '24h')).trim();
}

/** A real Prometheus that scrapes the server and evaluates the alert rules. */
async function startPrometheus(token: string): Promise<string> {
  const config = await must(server.kubeconfig, 'config', 'view', '--raw', '-o', 'json');
  const { clusters } = JSON.parse(config) as { clusters: { cluster: Record<string, string> }[] };
  const ca = Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64');
  await writeFile(join(directory, 'ca.pem'), ca);
  const job = {
    job_name: 'atoll',
    scheme: 'https',
    authorization: { credentials: token },
    tls_config: { ca_file: join(directory, 'ca.pem') },
    static_configs: [{ targets: [new URL(server.url).host] }],
  };
  const settings = {
    global: { scrape_interval: '5s', scrape_timeout: '5s', evaluation_interval: '1s' },
    rule_files: [join(rules, 'atoll.rules.yaml')],
    scrape_configs: [job],
  };
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(settings));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ];
  const child = spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'inherit'] });
  child.on('error', (error) => {
    throw new Error('Prometheus is missing: apt-get install prometheus', { cause: error });
  });
  prometheus = { url: `http://${address}/api/v1`, child };
  return prometheus.url;
}

async function asked<T>(url: string): Promise<T> {
  const answer = (await (await fetch(url)).json()) as { status: string; data: T; error?: string };
  if (answer.status !== 'success') throw new Error(`${url}: ${answer.error}`);
  return answer.data;
}

/** The one figure that a query answers; undefined while it answers nothing. */
async function queried(url: string, query: string): Promise<number | undefined> {
  const { result } = await asked<{ result: { value: [number, string] }[] }>(
    `${url}/query?query=${encodeURIComponent(query)}`,
  );
  return result[0] && Number(result[0].value[1]);
}

/** They tell of how long something takes, which on a slow machine may be about to be worth an alert. */
const ofTheMachine = new Set(['AtollStoreSlow', 'AtollRequestsSlow', 'AtollEventLoopBlocked']);

interface Rule {
  name: string;
  health: string;
  lastError?: string;
  state: string;
}

async function rulesOf(url: string): Promise<Rule[]> {
  const { groups } = await asked<{ groups: { rules: Rule[] }[] }>(`${url}/rules`);
  return groups.flatMap((group) => group.rules);
}

it('a real Prometheus scrapes it as one who may do nothing else, and evaluates the alert rules', async () => {
  const token = await tokenOfAMonitor();
  const as = ['--as', 'system:serviceaccount:kube-system:prometheus'];
  expect((await kubectl(server.kubeconfig, ...as, 'get', 'pods')).code).toBe(1);
  const url = await startPrometheus(token);
  await until('it is scraped', 60, async () => (await queried(url, 'up{job="atoll"}')) === 1);
  // What has no figures here: a cluster, a hand-over's cluster, a request that was turned away, an audit policy, a KMS plugin, a receiver of traces.
  const absent = [
    'apiserver_audit_error_total',
    'apiserver_audit_level_total',
    'apiserver_conversion_webhook_duration_seconds',
    'apiserver_conversion_webhook_request_total',
    'apiserver_envelope_encryption_dek_source_cache_size',
    'apiserver_envelope_encryption_invalid_key_id_from_status_total',
    'apiserver_envelope_encryption_kms_operations_latency_seconds',
    'apiserver_flowcontrol_rejected_requests_total',
    'apiserver_request_terminations_total',
    'atoll_physical_cluster_credentials_expiration_timestamp_seconds',
    'atoll_syncer_connected',
    'atoll_syncer_silence_seconds',
    'atoll_tracing_spans_exported_total',
    'atoll_tracing_spans_lost_total',
  ];
  // A process that still starts has said nothing when the first is scraped.
  await until('all that has figures is scraped', 60, async () => {
    const names = await asked<string[]>(`${url}/label/__name__/values`);
    const scraped = new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    const missing = definitions
      .filter(({ page }) => page === undefined)
      .map(({ name }) => name)
      .filter((name) => !scraped.has(name));
    expect(missing.sort()).toEqual(absent);
    return true;
  });
  await until('the rules are evaluated, and say nothing', 60, async () => {
    const all = await rulesOf(url);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(all.filter(({ name, state }) => state !== 'inactive' && !ofTheMachine.has(name))).toEqual([]);
    return true;
  });

  const control = /controllers and syncers have a process of their own","pid":(\d+)/g;
  const pid = () => Number([...server.log().matchAll(control)].at(-1)?.[1]);
  const adds = 'sum(workqueue_adds_total)';
  const before = (await queried(url, adds)) ?? 0;
  expect(before).toBeGreaterThan(0);
  const first = pid();
  process.kill(first, 'SIGSTOP');
  await until('a process that says nothing is told of', 60, async () => {
    const rule = (await rulesOf(url)).find(({ name }) => name === 'AtollProcessSilent');
    return rule?.state === 'pending';
  });
  await until('it is scraped all the same', 60, async () => {
    expect(await queried(url, 'up{job="atoll"}')).toBe(1);
    expect(await queried(url, adds)).toBeGreaterThanOrEqual(before);
    return true;
  });
  try {
    process.kill(first, 'SIGKILL');
  } catch (error) {
    // The server has taken it for one that hangs, and ended it.
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
  await until('another one answers', 60, async () => {
    if (pid() === first) return false;
    return (await queried(url, 'atoll_process_answered{process="control"}')) === 1;
  });
  await until('nothing is forgotten', 60, async () => ((await queried(url, adds)) ?? 0) >= before);
  expect(await queried(url, 'sum(resets(workqueue_adds_total[5m]))')).toBe(0);
  expect(await queried(url, 'sum(resets(apiserver_request_total[5m]))')).toBe(0);
});

it('that a KMS plugin is away is told of while what it encrypts can still be written', async () => {
  await server.dispose();
  const kms = new KmsPlugin(join(directory, 'kms.sock'));
  await kms.start();
  const provider = { kms: { ...Object(kms.configuration).kms, timeout: '3s' } };
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [provider] }],
  };
  const file = join(directory, 'encryption.yaml');
  await writeFile(file, JSON.stringify(configuration));
  server = await startAtoll({ args: ['--encryption-provider-config', file] });
  const url = await startPrometheus(await tokenOfAMonitor());
  const state = async () => (await rulesOf(url)).find(({ name }) => name === 'AtollKmsFails')?.state;
  const calls = 'sum(apiserver_envelope_encryption_kms_operations_latency_seconds_count)';
  await until('its calls are scraped', 60, async () => ((await queried(url, calls)) ?? 0) > 0);
  expect(await state()).toBe('inactive');
  kms.stop();
  await until('it is told of', 120, async () => (await state()) === 'pending');
  await must(server.kubeconfig, 'create', 'secret', 'generic', 's');
});

it('an administrator sees what each process of a server spends its time and its memory on', async () => {
  const { kubeconfig } = server;
  const taken = async (path: string) =>
    JSON.parse(await must(kubeconfig, 'get', '--raw', `/debug/pprof/${path}`)) as {
      nodes?: { callFrame: { url: string } }[];
      head?: { children: object[] };
    };
  const files = async (process: string) => {
    const { nodes = [] } = await taken(`profile?seconds=1&process=${process}`);
    return nodes.map(({ callFrame }) => callFrame.url.replace(/^.*[/]/, ''));
  };
  const [first, control] = await Promise.all([files('first'), files('control')]);
  expect(first.length).toBeGreaterThan(5);
  expect(control.length).toBeGreaterThan(5);
  // It tells of what is not collected yet: a server that nobody asks anything may hold nothing new.
  let isTaken = false;
  const heap = taken('heap?seconds=3').finally(() => {
    isTaken = true;
  });
  while (!isTaken) await must(kubeconfig, 'api-resources');
  expect((await heap).head?.children.length).toBeGreaterThan(0);
  const { stderr } = await kubectl(kubeconfig, 'get', '--raw', '/debug/pprof/heap?process=serving-9');
  expect(stderr).toContain('there is no process "serving-9": first, control');
});

it('the alert rules fire for what they are there for, and for nothing else', async () => {
  const check = await run('promtool', ['check', 'rules', join(rules, 'atoll.rules.yaml')]);
  expect(check.stdout).toContain('SUCCESS');
  const tested = await run('promtool', ['test', 'rules', 'atoll.rules.test.yaml'], { cwd: rules });
  expect(tested.stdout).toContain('SUCCESS');
});
