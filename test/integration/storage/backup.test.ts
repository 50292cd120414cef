import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { main } from '../../../cli/program.ts';
import { Client } from '../../../client/client.ts';
import { type Informer, startInformer } from '../../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type RunningServer, runServer } from '../../../server/run.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { eventually } from '../../eventually.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const WRITERS = 4;

let directory: string;
let running: RunningServer | undefined;
let out: string;
const stop = new AbortController();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-backup-'));
  out = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      out += String(text);
      return true;
    });
  }
});
afterEach(async () => {
  stop.abort();
  vi.restoreAllMocks();
  await running?.stop();
  await rm(directory, { recursive: true, force: true });
});

const atoll = (...args: string[]) => main(['node', 'atoll', ...args]);

async function start(name: string, listen: string): Promise<RunningServer> {
  // A process of their own would run the compiled program.
  const flags = { dataDir: join(directory, name), listen, controllersProcess: 'off' };
  const settings = resolveSettings(flags, undefined, {});
  running = await runServer({ ...settings, settleSeconds: 0 }, silentLogger);
  return running;
}

interface Numbered extends KubeObject {
  data?: { n: string };
}

/** Each writer counts up in two objects, the second after the first: a moment shows them equal or one apart. */
async function write(client: Client, writer: number, until: AbortSignal): Promise<number> {
  const names = [`first-${writer}`, `second-${writer}`];
  const body = (name: string, n: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { n: String(n) },
    metadata: { name, namespace: 'default' },
  });
  for (const name of names) await client.create(configMaps, body(name, 0));
  let n = 0;
  while (!until.aborted) {
    n++;
    for (const name of names) await client.update(configMaps, body(name, n));
  }
  return n;
}

const numberOf = (informer: Informer<Numbered>, name: string) =>
  Number(informer.list().find(({ metadata }) => metadata.name === name)?.data?.n);

test('a backup under load is of one moment; restored elsewhere, clients go on and nobody goes back in time', async () => {
  const { url, kubeconfig } = await start('one', '127.0.0.1:0');
  const transport = await transportFromKubeconfigFile(kubeconfig);
  const client = new Client(transport, { cluster: 'root' });
  const informer = startInformer<Numbered>(client, configMaps, { namespace: 'default', signal: stop.signal });
  const resets: string[] = [];
  const enough = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, i) => write(client, i, enough.signal));
  await eventually(() => expect(numberOf(informer, 'second-0')).toBeGreaterThan(5));
  const file = join(directory, 'monday.backup');
  const at = ['--atoll-kubeconfig', kubeconfig];
  expect(await atoll(...at, 'backup', file, '-o', 'json'), out).toBe(0);
  const saved = JSON.parse(out) as { revision: number };
  expect(existsSync(`${file}.partial`)).toBe(false);
  expect(await atoll(...at, 'backup', file)).toBe(2);

  // What comes after the backup is lost by restoring it; whoever saw it must be told.
  const seen = numberOf(informer, 'first-0');
  await eventually(() => expect(numberOf(informer, 'first-0')).toBeGreaterThan(seen + 5));
  enough.abort();
  const last = await Promise.all(writing);
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'later', namespace: 'default' },
  });
  await eventually(() => expect(informer.list().some((o) => o.metadata.name === 'later')).toBe(true));
  const newest = (await client.list(configMaps, { namespace: 'default' })).metadata?.resourceVersion ?? '';
  informer.on({ delete: (object) => resets.push(object.metadata.name ?? '') });
  const { host } = new URL(url);
  await running?.stop();

  expect(await atoll('restore', file, '--data-dir', join(directory, 'two')), out).toBe(0);
  await start('two', host);
  // The same client, with the certificates it has, at the same address.
  const list = await client.list<Numbered>(configMaps, { namespace: 'default' });
  expect(Number(list.metadata?.resourceVersion)).toBeGreaterThan(Number(newest) + 500_000_000);
  for (let i = 0; i < WRITERS; i++) {
    const [first = NaN, second = NaN] = [`first-${i}`, `second-${i}`].map((name) =>
      Number(list.items.find(({ metadata }) => metadata.name === name)?.data?.n),
    );
    expect([second, second + 1]).toContain(first);
    expect(first).toBeLessThan(last[i] ?? 0);
  }
  for (const { metadata } of list.items.filter(({ metadata: { name } }) => name?.startsWith('first-'))) {
    expect(Number(metadata.resourceVersion)).toBeLessThanOrEqual(saved.revision);
  }
  for (const version of [String(saved.revision), newest]) {
    const watch = `/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=${version}`;
    const answer = await transport({ method: 'GET', url: watch, headers: {} });
    expect(await firstEvent(answer.body)).toMatchObject({ code: 410, reason: 'Expired' });
  }
  await eventually(() => expect(resets).toContain('later'));
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'afterwards', namespace: 'default' },
  });
  await eventually(() => {
    expect(informer.list().some((o) => o.metadata.name === 'afterwards')).toBe(true);
  });
  transport.close();
});

async function firstEvent(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<unknown> {
  let text = '';
  if (body instanceof Uint8Array) text = Buffer.from(body).toString('utf8');
  else {
    for await (const bytes of body) {
      text += Buffer.from(bytes).toString('utf8');
      if (text.includes('\n')) break;
    }
  }
  const event = JSON.parse(text.split('\n')[0] ?? '');
  return event.type === 'ERROR' ? event.object : event;
}

test('a backup is for administrators, and broken off it is none', async () => {
  const { kubeconfig, server } = await start('one', '127.0.0.1:0');
  const somebody = server.transport({ name: 'jane', groups: ['system:authenticated'] });
  const refused = await somebody({ method: 'GET', url: '/backup', headers: {} });
  expect(refused.status).toBe(403);
  const administrator = server.transport({ name: 'admin', groups: ['system:masters'] });
  expect((await administrator({ method: 'POST', url: '/backup', headers: {} })).status).toBe(405);
  const elsewhere = join(directory, 'other.yaml');
  const text = await readFile(kubeconfig, 'utf8');
  await writeFile(elsewhere, text.replace(/(server: .*)$/m, '$1/elsewhere'));
  const file = join(directory, 'none.backup');
  expect(await atoll('--atoll-kubeconfig', elsewhere, 'backup', file)).toBe(1);
  expect(existsSync(file) || existsSync(`${file}.partial`)).toBe(false);
});
