import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { type Atoll, program, startAtoll } from '../atoll/atoll.ts';

const run = promisify(execFile);
const dist = join(program, '../..');
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
let folder = '';
let bundled: string;
let server: Atoll;

beforeAll(async () => {
  // Not where it is installed: whoever runs that one goes on.
  folder = await mkdtemp(join(dist, 'bundle-'));
  await run(process.execPath, [join(dist, '../scripts/bundle.mjs'), folder]);
  bundled = join(folder, 'main.js');
  server = await startAtoll({ program: bundled });
});
afterAll(async () => {
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe('the program as it is installed', () => {
  test('knows its version', async () => {
    const [whole, pieces] = await Promise.all(
      [bundled, program].map((path) => run(process.execPath, [path, 'version'])),
    );
    expect(whole?.stdout).toBe(pieces?.stdout);
  });

  test('serves, keeps what it was told, and is asked by its own commands', async () => {
    const transport = await transportFromKubeconfigFile(server.kubeconfig);
    const client = new Client(transport);
    const metadata = { name: 'here', namespace: 'default' };
    await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await server.restart();
    expect((await client.get(configMaps, metadata)).metadata.name).toBe('here');
    // What is described lies beside the modules, not in the bundle.
    const openapi = await client.raw({ method: 'GET', path: '/openapi/v3/api/v1' });
    expect(openapi.status).toBe(200);
    transport.close();
    const env = { ...process.env, ATOLL_KUBECONFIG: server.kubeconfig };
    const { stdout } = await run(process.execPath, [bundled, 'cluster', 'list'], { env });
    expect(stdout).toContain('NAME');
  });

  test('shows its demo', async () => {
    const demo = await startAtoll({
      command: 'demo',
      program: bundled,
      args: ['--clusters', '3', '--nodes', '1'],
    });
    try {
      const env = { ...process.env, ATOLL_KUBECONFIG: demo.kubeconfig };
      const { stdout } = await run(process.execPath, [bundled, 'cluster', 'list'], { env });
      for (const name of ['east', 'west', 'north']) expect(stdout).toContain(name);
    } finally {
      await demo.dispose();
    }
  });
});
