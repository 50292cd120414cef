import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeYaml } from '../../kube/yaml.ts';
import { type Atoll, program, startAtoll } from '../atoll/atoll.ts';
import { atoll, kubectl, must } from '../atoll/kubectl.ts';
import { type Provider, startProvider } from '../atoll/provider.ts';

let directory = '';
let issuer: Provider;
let server: Atoll;
let kubeconfig = '';
let cache = '';
let own: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-login-'));
  [kubeconfig, cache] = [join(directory, 'config'), join(directory, 'cache')];
  issuer = await startProvider();
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: issuer.url, audiences: ['atoll'], certificateAuthority: issuer.ca },
        claimMappings: {
          username: { claim: 'sub', prefix: 'oidc:' },
          groups: { claim: 'groups', prefix: 'oidc:' },
        },
      },
    ],
  };
  await writeFile(join(directory, 'authentication.yaml'), encodeYaml(configuration));
  await writeFile(join(directory, 'issuer.pem'), issuer.ca);
  server = await startAtoll({
    args: ['--authentication-config', join(directory, 'authentication.yaml')],
  });
  const workspace = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'team-a' },
  };
  await writeFile(join(directory, 'workspace.json'), JSON.stringify(workspace));
  await must(server.kubeconfig, 'create', '-f', join(directory, 'workspace.json'));
  await must(
    server.kubeconfig,
    'wait',
    'workspace/team-a',
    '--for=jsonpath={.status.phase}=Ready',
    '--timeout=240s',
  );
  const team = join(directory, 'team-a.yaml');
  expect((await atoll(server.kubeconfig, 'kubeconfig', 'root:team-a', '-o', team)).code).toBe(0);
  const binding = ['--clusterrole', 'edit', '--group', 'oidc:developers', '-n', 'default'];
  await must(team, 'create', 'rolebinding', 'developers', ...binding);
  const ca = await must(
    server.kubeconfig,
    'config',
    'view',
    '--raw',
    '-o',
    'jsonpath={.clusters[0].cluster.certificate-authority-data}',
  );
  await writeFile(join(directory, 'server.pem'), Buffer.from(ca, 'base64'));
  own = ['--oidc-issuer-url', issuer.url, '--oidc-client-id', 'atoll'];
  own.push('--oidc-ca-file', join(directory, 'issuer.pem'), '--token-cache-dir', cache);
});
afterAll(async () => {
  await server?.dispose();
  await issuer?.close();
  await rm(directory, { recursive: true, force: true });
});

/** `atoll login`, which is answered by whoever reads what it says. */
function login(args: string[], told: (line: string) => void): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [program, 'login', ...args, ...own], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) told(line);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}
const sessionOf = async () => {
  const files = (await readdir(cache)).filter((name) => name.endsWith('.json'));
  expect(files).toHaveLength(1);
  const file = join(cache, files[0] ?? '');
  return { file, session: JSON.parse(await readFile(file, 'utf8')) as { issued: number; expires: number } };
};
/** As if an hour had passed since the token was given. */
async function hourLater(): Promise<void> {
  const { file, session } = await sessionOf();
  const [issued, expires] = [session.issued - 3600, session.expires - 3600];
  await writeFile(file, JSON.stringify({ ...session, issued, expires }));
}
const refreshes = () => issuer.granted.get('refresh_token') ?? 0;
const whoami = () => kubectl(kubeconfig, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');

it('somebody signs in by a browser, and kubectl works in the context that was added', async () => {
  await writeFile(
    kubeconfig,
    'contexts: [{ name: mine, context: { cluster: c, user: u } }]\ncurrent-context: mine\n',
  );
  const to = [server.url, '--logical-cluster', 'root:team-a', '--kubeconfig', kubeconfig];
  const more = ['--certificate-authority', join(directory, 'server.pem'), '--skip-open-browser'];
  const pages: Promise<number>[] = [];
  const { code, said } = await login([...to, ...more], (line) => {
    const [, url] = /^Sign in at (\S+)$/.exec(line) ?? [];
    if (url !== undefined) pages.push(issuer.browse(url));
  });
  expect(await Promise.all(pages)).toEqual([200]);
  expect({ code, said }).toMatchObject({
    code: 0,
    said: expect.stringContaining(`${kubeconfig}: context root:team-a, signed in at ${issuer.url} until `),
  });
  expect(await must(kubeconfig, 'config', 'get-contexts', '-o', 'name')).toBe('mine\nroot:team-a\n');
  expect(await whoami()).toMatchObject({ code: 0, stdout: 'oidc:ann' });
  await must(kubeconfig, 'create', 'configmap', 'hers');
  expect(await must(kubeconfig, 'get', 'configmap', 'hers', '-o', 'name')).toBe('configmap/hers\n');
  expect((await kubectl(kubeconfig, 'get', 'secrets', '-n', 'kube-system')).stderr).toContain(
    'secrets is forbidden: User "oidc:ann" cannot list resource "secrets"',
  );
  expect((await atoll(kubeconfig, 'cluster', 'list')).stderr).toContain(
    'physicalclusters.atoll.dev is forbidden: User "oidc:ann" cannot list',
  );
});

it('a token that expires is replaced, and nobody is asked', async () => {
  const before = refreshes();
  await must(kubeconfig, 'get', 'configmap', 'hers');
  expect(refreshes()).toBe(before);
  await hourLater();
  await must(kubeconfig, 'get', 'configmap', 'hers');
  expect(refreshes()).toBe(before + 1);
});

it('several kubectls at once refresh once', async () => {
  await hourLater();
  const before = refreshes();
  const all = await Promise.all(Array.from({ length: 4 }, whoami));
  expect(all.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => 'oidc:ann'));
  expect(refreshes()).toBe(before + 1);
});

it('what can be refreshed no more says how to sign in again, which is by a device, too', async () => {
  issuer.revoke();
  await hourLater();
  const { code, stderr } = await whoami();
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    `error: the login has ended: run atoll login --oidc-issuer-url ${issuer.url} --oidc-client-id atoll`,
  );
  expect(stderr).toContain('getting credentials: exec: executable');
  const own = await atoll(kubeconfig, 'cluster', 'list');
  expect(own).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the login has ended: run atoll login'),
  });
  expect(own.stderr).not.toContain('    at ');
  const { file, session } = await sessionOf();
  for (const secret of Object.values(session).filter((value) => typeof value === 'string' && value !== 'ann'))
    expect(stderr).not.toContain(secret);
  expect(file).toContain(cache);
  const again = await login(['--device'], (line) =>
    issuer.approve(/with the code (\S+)$/.exec(line)?.[1] ?? ''),
  );
  expect(again).toMatchObject({ code: 0, said: expect.stringContaining('signed in at') });
  expect(await whoami()).toMatchObject({ code: 0, stdout: 'oidc:ann' });
});
