import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';
import { type Atoll, program, startAtoll } from '../../atoll/atoll.ts';
import { until } from '../../world/objects.ts';

const run = promisify(execFile);
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

let directory = '';
let atoll: Atoll | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-logs-'));
});
afterEach(async () => {
  await atoll?.dispose();
  await rm(directory, { recursive: true, force: true });
});

type Line = Record<string, unknown>;

/** Fails where a line is no JSON. */
function lines(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

describe('the log', () => {
  test('at debug tells of every request who asked for what, and nothing secret', async () => {
    atoll = await startAtoll({ args: ['--log-level', 'debug'] });
    const transport = await transportFromKubeconfigFile(atoll.kubeconfig);
    const client = new Client(transport);
    const metadata = { name: 'a', namespace: 'default' };
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { a: 'in-a-body' },
    });
    const send = (method: string, url: string, headers: Record<string, string> = {}) =>
      transport({ method, url, headers });
    await send('GET', '/api/v1/namespaces/default/configmaps/a?pretty=in-a-query');
    await send('GET', '/api/v1/namespaces/default/services/a/proxy/in-a-path');
    await send('GET', '/api/v1/pods', { authorization: 'Bearer in-a-header' });
    await send('GET', '/clusters/root:%0a{"level":"error"}/api/v1/pods');
    const log = () => lines(atoll?.log() ?? '');
    const requests = () => log().filter(({ msg }) => msg === 'request');
    const find = (verb: string, path: string) =>
      until(`${verb} ${path} is told of`, async () =>
        requests().find((l) => l['verb'] === verb && l['path'] === path),
      );
    const of = { level: 'debug', user: 'admin', cluster: 'root', ms: expect.any(Number) };
    expect(await find('create', '/api/v1/namespaces/default/configmaps')).toMatchObject({ ...of, code: 201 });
    expect(await find('get', '/api/v1/namespaces/default/configmaps/a')).toMatchObject({ ...of, code: 200 });
    expect(await find('get', '/api/v1/namespaces/default/services/a/proxy/...')).toMatchObject({ code: 404 });
    expect(await find('get', '/clusters/root:%0a{"level":"error"}/api/v1/pods')).toMatchObject({ code: 404 });
    const kubeconfig = await readFile(atoll.kubeconfig, 'utf8');
    const [, token = ''] = /token: (\S+)/.exec(kubeconfig) ?? [];
    for (const secret of [token, 'in-a-body', 'in-a-query', 'in-a-path', 'in-a-header'])
      expect(atoll.log()).not.toContain(secret);
    transport.close();
    expect(await atoll.terminate()).toBe(0);
    expect(log().length).toBeGreaterThan(5);
  });

  test('of a server that does not start is JSON on stderr, and a sentence on stdout', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const listen = `127.0.0.1:${port}`;
    const args = ['start', '--listen', listen, '--data-dir', directory];
    const failed = await run(process.execPath, [program, ...args]).catch((error) => error);
    taken.close();
    const why = `${listen} is taken: stop what listens there, or choose another with --listen HOST:PORT`;
    expect(failed).toMatchObject({ code: 1, stdout: `error: ${why}\n` });
    expect(lines(failed.stderr).at(-1)).toMatchObject({
      level: 'error',
      msg: 'the server failed',
      error: why,
    });
  });
});
