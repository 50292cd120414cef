import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { freePort } from '../etcd/etcd.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { accountKubeconfig } from '../operators/account.ts';

const run = promisify(execFile);
const build = new URL('../operators/build', import.meta.url).pathname;

let server: Atoll;
let dir: string;
/** Of the tenant's administrator, and of the controller: its account's token, and nothing else. */
let tenant: string;
let account: string;
const programs = new Map<string, { child: ChildProcess; log: string[] }>();
const logOf = (program: string) => (programs.get(program)?.log ?? []).join('');

/**
 * On Kubernetes, too: what is made in one go is looked for before it is there, or made once more before it is seen to be, a webhook
 * asked before it has an authority.
 */
const expected =
  /not found|object has been modified|secrets \\"[a-z0-9-]+\\" already exists|Failed to generate initial serving certificate, retrying/;

const controllerFlags = ['--cluster-resource-namespace=cert-manager', '--metrics-listen-address=127.0.0.1:0'];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'atoll-operators-'));
  const built = await run(build, { timeout: 1_500_000, env: { ...process.env, NO_COLOR: '1' } });
  const folder = built.stdout.trim();
  server = await startAtoll({ args: ['--egress-allow', '127.0.0.0/8'] });
  tenant = await logicalCluster(server, 'team-a');
  await logicalCluster(server, 'team-b');
  await must(tenant, 'create', 'namespace', 'cert-manager');
  await must(tenant, 'apply', '--server-side', '-f', join(folder, 'operator.yaml'));
  await must(tenant, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const port = await freePort();
  await hooksAt(join(folder, 'webhook.yaml'), `https://localhost:${port}`);
  const start = async (program: string, name: string, ...args: string[]) => {
    const kubeconfig = await accountKubeconfig(tenant, 'cert-manager', name, dir);
    const env = { ...process.env, POD_NAMESPACE: 'cert-manager' };
    const child = spawn(join(folder, program), ['--v=2', '--kubeconfig', kubeconfig, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env,
    });
    const log: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
    programs.set(program, { child, log });
    return kubeconfig;
  };
  account = await start('controller', 'cert-manager', ...controllerFlags);
  await start('cainjector', 'cert-manager-cainjector', '--leader-election-namespace=kube-system');
  await start(
    'webhook',
    'cert-manager-webhook',
    `--secure-port=${port}`,
    '--healthz-port=0',
    '--dynamic-serving-ca-secret-namespace=cert-manager',
    '--dynamic-serving-ca-secret-name=cert-manager-webhook-ca',
    '--dynamic-serving-dns-names=localhost',
  );
}, 1_600_000);

afterAll(async () => {
  for (const { child } of programs.values()) {
    if (child.exitCode !== null) continue;
    child.kill();
    await once(child, 'exit');
  }
  await server?.dispose();
  await rm(dir, { recursive: true, force: true });
});

/** The chart's configurations, but by URL: no Service leads to a program that runs beside the cluster. */
async function hooksAt(chart: string, url: string): Promise<void> {
  const byService = /service:\n +name: cert-manager-webhook\n +namespace: cert-manager\n +path: /g;
  const text = (await readFile(chart, 'utf8')).replace(byService, `url: ${url}`);
  const path = join(dir, 'webhook.yaml');
  await writeFile(path, text);
  await must(tenant, 'apply', '-f', path);
}

const issuer = (name: string, spec: object, kind = 'Issuer') => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  metadata: { name },
  spec,
});
const certificate = (
  name: string,
  issuedBy: string,
  spec: { [field: string]: unknown; issuerRef?: object },
) => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name },
  spec: { secretName: name, ...spec, issuerRef: { name: issuedBy, ...spec.issuerRef } },
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

describe('cert-manager, unmodified, with the rights of its own manifest', () => {
  test('issues what it is asked for, once its webhook is trusted', async () => {
    const wanted = [
      issuer('self-signed', { selfSigned: {} }),
      certificate('authority', 'self-signed', { isCA: true, commonName: 'authority' }),
      issuer('own', { ca: { secretName: 'authority' } }),
      certificate('web', 'own', { dnsNames: ['web.example.com'] }),
      issuer('everywhere', { selfSigned: {} }, 'ClusterIssuer'),
      certificate('wide', 'everywhere', {
        dnsNames: ['wide.example.com'],
        issuerRef: { kind: 'ClusterIssuer' },
      }),
    ];
    await until('the webhook takes them', 60, () => apply(...wanted).then(() => true));
    await must(tenant, 'wait', 'certificate', '--all', '--for=condition=Ready', '--timeout=240s');
    const [web, authority] = [await issued('web'), await issued('authority')];
    expect(web.certificate.checkHost('web.example.com')).toBe('web.example.com');
    expect(web.certificate.verify(authority.certificate.publicKey)).toBe(true);
  });

  test('its webhook refuses, and writes who asked', async () => {
    const short = certificate('short', 'own', { duration: '1m', dnsNames: ['short.example.com'] });
    await expect(apply(short)).rejects.toThrow(
      'admission webhook "webhook.cert-manager.io" denied the request: spec.duration: Invalid value: 1m0s',
    );
    const askers = ['get', 'certificaterequests', '-o', 'jsonpath={.items[*].spec.username}'];
    expect(new Set((await must(tenant, ...askers)).split(' '))).toEqual(
      new Set(['system:serviceaccount:cert-manager:cert-manager']),
    );
  });

  test('issues anew what was deleted', async () => {
    const before = await issued('web');
    await must(tenant, 'delete', 'secret', 'web');
    const after = await until('a new certificate', 30, () => issued('web'));
    expect(after.uid).not.toBe(before.uid);
    expect(after.certificate.serialNumber).not.toBe(before.certificate.serialNumber);
  });

  test('was refused nothing', () => {
    for (const program of ['controller', 'cainjector']) {
      expect(logOf(program)).toContain('successfully acquired lease');
    }
    expect(logOf('webhook')).toContain('listening for secure connections');
    for (const program of programs.keys()) {
      expect(logOf(program)).not.toMatch(/forbidden|unauthorized|the server could not find/i);
      const errors = logOf(program).match(/^[EF]\d{4} .*$/gm) ?? [];
      expect(errors.filter((line) => !expected.test(line))).toEqual([]);
    }
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
    await until('the controller is refused', 30, async () => logOf('controller').includes('forbidden'));
    expect((await kubectl(tenant, 'get', 'secret', 'web')).stderr).toContain('NotFound');
  });
});
