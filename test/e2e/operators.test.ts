import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { logicalCluster } from '../fidelity/workspace.ts';

const run = promisify(execFile);
const build = new URL('../operators/build', import.meta.url).pathname;

let server: Atoll;
let dir: string;
/** Of the tenant's administrator, and of the operator: its account's token, and nothing else. */
let tenant: string;
let account: string;
let operator: ChildProcess | undefined;
const log: string[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'atoll-operators-'));
  const built = await run(build, { timeout: 1_500_000, env: { ...process.env, NO_COLOR: '1' } });
  const folder = built.stdout.trim();
  server = await startAtoll();
  tenant = await logicalCluster(server, 'team-a');
  await logicalCluster(server, 'team-b');
  await must(tenant, 'create', 'namespace', 'cert-manager');
  await must(tenant, 'apply', '--server-side', '-f', join(folder, 'operator.yaml'));
  await must(tenant, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  account = await accountKubeconfig(tenant);
  const args = ['--kubeconfig', account, '--cluster-resource-namespace', 'cert-manager'];
  operator = spawn(join(folder, 'controller'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  operator.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
}, 1_600_000);

afterAll(async () => {
  if (operator?.exitCode === null) {
    operator.kill();
    await once(operator, 'exit');
  }
  await server?.dispose();
  await rm(dir, { recursive: true, force: true });
});

async function accountKubeconfig(kubeconfig: string): Promise<string> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const token = await must(kubeconfig, 'create', 'token', 'cert-manager', '-n', 'cert-manager');
  config.loadFromClusterAndUser(config.getCurrentCluster() as never, {
    name: 'operator',
    token: token.trim(),
  });
  const path = join(dir, 'operator.kubeconfig');
  await writeFile(path, config.exportConfig(), { mode: 0o600 });
  return path;
}

const issuer = (name: string, spec: object) => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Issuer',
  metadata: { name },
  spec,
});
const certificate = (name: string, issuedBy: string, spec: object) => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name },
  spec: { secretName: name, issuerRef: { name: issuedBy }, ...spec },
});

async function apply(...objects: object[]): Promise<void> {
  const path = join(dir, 'objects.json');
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await must(tenant, 'apply', '-f', path);
}

interface Stored {
  metadata: { uid: string };
  data: Record<string, string>;
}

/** Throws while there is none. */
async function issued(name: string): Promise<{ uid: string; certificate: X509Certificate }> {
  const { metadata, data } = await mustJson<Stored>(tenant, 'get', 'secret', name);
  return {
    uid: metadata.uid,
    certificate: new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64')),
  };
}

/** As the operator, in a logical cluster. */
async function asOperator(path: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(
    account,
    '--server',
    `${server.url}/clusters/${path}`,
    ...args,
  );
  return code === 0 ? stdout : stderr;
}

describe("cert-manager's controller, unmodified, with the rights of its own manifest", () => {
  test('issues what it is asked for', async () => {
    await apply(
      issuer('self-signed', { selfSigned: {} }),
      certificate('authority', 'self-signed', { isCA: true, commonName: 'authority' }),
      issuer('own', { ca: { secretName: 'authority' } }),
      certificate('web', 'own', { dnsNames: ['web.example.com'] }),
    );
    await must(tenant, 'wait', 'certificate', '--all', '--for=condition=Ready', '--timeout=240s');
    const [web, authority] = [await issued('web'), await issued('authority')];
    expect(web.certificate.checkHost('web.example.com')).toBe('web.example.com');
    expect(web.certificate.verify(authority.certificate.publicKey)).toBe(true);
  });

  test('issues anew what was deleted', async () => {
    const before = await issued('web');
    await must(tenant, 'delete', 'secret', 'web');
    const after = await until('a new certificate', 30, () => issued('web'));
    expect(after.uid).not.toBe(before.uid);
    expect(after.certificate.serialNumber).not.toBe(before.certificate.serialNumber);
  });

  test('was refused nothing', () => {
    expect(log.join('')).toContain('successfully acquired lease');
    expect(log.join('')).not.toMatch(/forbidden|unauthorized|the server could not find/i);
  });

  test('is nobody in another logical cluster', async () => {
    for (const path of ['root', 'root:team-b']) {
      expect(await asOperator(path, 'get', 'secrets', '-A')).toContain('You must be logged in to the server');
    }
    expect(await asOperator('root:team-a', 'get', 'secrets', '-A', '-o', 'name')).toContain('secret/web');
  });

  test('may nothing more once its bindings are gone', async () => {
    await must(tenant, 'delete', 'clusterrolebinding', '-l', 'app.kubernetes.io/instance=cert-manager');
    await until('a refusal', 1, async () =>
      (await asOperator('root:team-a', 'get', 'secrets', '-A')).includes(
        'User "system:serviceaccount:cert-manager:cert-manager" cannot list resource "secrets"',
      ),
    );
    await must(tenant, 'delete', 'secret', 'web');
    await until('the controller is refused', 30, async () => log.join('').includes('forbidden'));
    expect((await kubectl(tenant, 'get', 'secret', 'web')).stderr).toContain('NotFound');
  });
});
