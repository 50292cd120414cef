import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, until } from '../atoll/kubectl.ts';

let server: Atoll;
beforeEach(async () => {
  server = await startAtoll({ args: ['--controllers-process', 'on'] });
});
afterEach(() => server.dispose());

/** The processes that have had the controllers, the newest last. */
function started(): number[] {
  const lines = [...server.log().matchAll(/^.*controllers and syncers have a process of their own.*$/gm)];
  return lines.map(([line]) => (JSON.parse(line) as { pid: number }).pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What it says comes by another way than that it is ready. */
const firstStarted = () => until('it is told', 10, async () => started()[0]);

async function furnished(namespace: string): Promise<void> {
  await must(server.kubeconfig, 'create', 'namespace', namespace);
  await until(`${namespace} is furnished`, 60, async () => {
    const found = await kubectl(server.kubeconfig, '-n', namespace, 'get', 'serviceaccount', 'default');
    return found.code === 0;
  });
}

it('a process of controllers that dies is followed by another, and nobody who asks notices', async () => {
  expect((await must(server.kubeconfig, 'get', 'namespaces', '-o', 'name')).split('\n')).toContain(
    'namespace/default',
  );
  await furnished('before');
  const first = await firstStarted();
  process.kill(first, 'SIGKILL');
  await must(server.kubeconfig, 'get', 'namespaces');
  await furnished('after');
  const second = await until('the other is told of', 10, async () => started()[1]);
  expect(second).not.toBe(first);
});

it('one that follows goes by the files as the server has taken them, not as somebody has left them since', async () => {
  const file = join(server.dataDir, 'encryption.yaml');
  const encrypted = { aesgcm: { keys: [{ name: 'a', secret: Buffer.alloc(32, 1).toString('base64') }] } };
  const configure = (...providers: object[]) =>
    writeFile(
      file,
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'EncryptionConfiguration',
        resources: [{ resources: ['secrets'], providers }],
      }),
    );
  await configure({ identity: {} });
  await server.restart(['--controllers-process', 'on', '--encryption-provider-config', file]);
  await furnished('before');
  await configure(encrypted, { identity: {} });
  process.kill(await firstStarted(), 'SIGKILL');
  await furnished('between');
  // What the controllers write can be read by whoever is asked.
  await must(server.kubeconfig, 'create', 'serviceaccount', 'robot');
  const annotation = { 'kubernetes.io/service-account.name': 'robot' };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'robot', annotations: annotation },
    type: 'kubernetes.io/service-account-token',
  };
  const manifest = join(server.dataDir, 'secret.json');
  await writeFile(manifest, JSON.stringify(secret));
  await must(server.kubeconfig, 'create', '-f', manifest);
  await until('it has its token', 60, async () =>
    (await must(server.kubeconfig, 'get', 'secret', 'robot', '-o', 'jsonpath={.data.token}')).trim(),
  );
  await writeFile(file, 'nonsense');
  process.kill(await until('the second is told of', 10, async () => started()[1]), 'SIGKILL');
  await furnished('after');
});

it('one that is stuck is killed, and followed too', async () => {
  // One that starts is given longer.
  await furnished('before');
  const first = await firstStarted();
  process.kill(first, 'SIGSTOP');
  await until('another has started', 90, async () => started().length > 1);
  expect(isAlive(first)).toBe(false);
  await furnished('after');
});

it('it ends with the server that was told to stop', async () => {
  const pid = await firstStarted();
  expect(isAlive(pid)).toBe(true);
  expect(await server.terminate()).toBe(0);
  expect(isAlive(pid)).toBe(false);
});

it('and with one that was killed', async () => {
  const pid = await firstStarted();
  await server.kill();
  await until('it has ended', 20, async () => !isAlive(pid));
});
