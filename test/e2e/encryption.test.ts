import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, until } from '../atoll/kubectl.ts';
import { KmsPlugin } from '../kms/plugin.ts';

const word = 'correct horse battery staple';

let directory: string;
let kms: KmsPlugin;
let server: Atoll;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-kms-'));
  kms = new KmsPlugin(join(directory, 'kms.sock'));
  await kms.start();
});

/** `timeout`: how long the plugin is waited for, which is in this process, with whatever else that does. */
async function start(timeout: string): Promise<void> {
  const file = join(directory, 'encryption.yaml');
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      { resources: ['secrets'], providers: [{ kms: { ...Object(kms.configuration).kms, timeout } }] },
    ],
  };
  await writeFile(file, JSON.stringify(configuration));
  const args = [
    '--encryption-provider-config',
    file,
    '--controllers-process',
    'on',
    '--serving-processes',
    '1',
  ];
  server = await startAtoll({ args });
}
afterEach(async () => {
  await server.dispose();
  kms.stop();
  await rm(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => must(server.kubeconfig, ...args);
const add = (namespace: string) =>
  run('create', 'secret', 'generic', 's', '-n', namespace, `--from-literal=word=${word}`);
const read = async () => {
  const text = await run('get', 'secret', 's', '-o', 'jsonpath={.data.word}');
  return Buffer.from(text, 'base64').toString();
};

/** How many calls of the plugin succeeded, as the server says. */
async function calls(method: string): Promise<number> {
  const text = await run('get', '--raw', '/metrics');
  const series = `kms_operations_latency_seconds_count{provider_name="vault",method_name="/v2.KeyManagementService/${method}",grpc_status_code="OK"} `;
  return Number(text.split(series)[1]?.split('\n')[0] ?? 0);
}

test('all processes of a server ask the plugin for what the others wrote, once each', async () => {
  await start('60s');
  await run('create', 'namespace', 'n');
  await add('n');
  await add('default');
  // The controllers read Secrets in a process of their own: what ends them is that namespace's end.
  await run('delete', 'namespace', 'n', '--timeout=60s');
  expect(await read()).toBe(word);
  const client = new Client(await transportFromKubeconfigFile(server.kubeconfig, { maxSockets: 48 }));
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
  let going = true;
  const failures: unknown[] = [];
  // Reads alone cost whoever asks as much as who answers, and keep no server busy.
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key-${i}`, 'x']));
  const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'c' }, data };
  const reader = async () => {
    while (going)
      await client
        .get(secrets, { namespace: 'default', name: 's' })
        .then(() => client.create(configMaps, large, { dryRun: true }))
        .catch((error: unknown) => failures.push(error));
  };
  const readers = Array.from({ length: 48 }, reader);
  await until('two processes serve', 30, async () =>
    /"msg":"serving"[\s\S]*"msg":"serving"/.test(server.log()),
  );
  await until('it asked for the seed, too', 30, async () => kms.calls.Decrypt >= 2);
  going = false;
  await Promise.all(readers);
  expect(failures).toEqual([]);
  await until('all that was asked is counted', 30, async () => {
    expect([await calls('Encrypt'), await calls('Decrypt')]).toEqual([kms.calls.Encrypt, kms.calls.Decrypt]);
    return true;
  });
  expect(kms.calls).toMatchObject({ Encrypt: 3, Decrypt: 2 });
  expect(await server.terminate()).toBe(0);
});

test('what was written is read after a kill; without the plugin it is not, and the rest is', async () => {
  await start('3s');
  await add('default');
  await server.restart();
  expect(await read()).toBe(word);
  // A store that runs takes away files that it has written anew.
  await server.kill();
  for (const entry of await readdir(server.dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    expect(bytes.includes(Buffer.from(word).toString('base64').slice(0, -4)), entry.name).toBe(false);
  }
  kms.stop();
  await server.restart();
  const refused = await kubectl(server.kubeconfig, 'get', 'secret', 's');
  expect(refused.stderr).toContain(
    'Error from server (InternalError): Internal error occurred: unable to transform key "/core/secrets/root/default/s": failed to decrypt DEK, error: rpc error: code = ',
  );
  await run('create', 'configmap', 'c');
  const ready = await kubectl(server.kubeconfig, 'get', '--raw', '/readyz');
  expect(ready.stderr).toContain('[-]kms-providers failed: reason withheld');
  await kms.start();
  await until('it is read again', 20, async () => (await read()) === word);
});
