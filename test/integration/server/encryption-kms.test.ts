import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import { loadEncryption } from '../../../server/encryption.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { openLevel } from '../../../storage/level/level.ts';
import type { Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { KmsPlugin } from '../../kms/plugin.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const secret = (name: string) => ({ metadata: { name }, stringData: { word: 'correct horse' } });
const identity = { identity: {} };
const aesgcm = { aesgcm: { keys: [{ name: 'a', secret: Buffer.alloc(32, 1).toString('base64') }] } };

let directory: string;
let file: string;
let kms: KmsPlugin;
let stored: Store;
let api: Api;
let stop: AbortController;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-encryption-'));
  file = join(directory, 'encryption.yaml');
  kms = new KmsPlugin(join(directory, 'kms.sock'));
  await kms.start();
});
afterEach(async () => {
  await end();
  kms.stop();
  await rm(directory, { recursive: true });
});

const configure = (...providers: object[]) =>
  writeFile(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers }],
    }),
  );

async function start(reload = false): Promise<void> {
  stop = new AbortController();
  const given = {
    dataDir: directory,
    encryptionProviderConfig: file,
    ...(reload && { encryptionProviderConfigAutomaticReload: 'true' }),
  };
  const settings = resolveSettings(given, undefined, {});
  const encryption = await loadEncryption({
    settings,
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });
  stored = await openLevel(join(directory, 'store'), { sync: false });
  const { health } = encryption;
  api = startApi({ store: encryption.over(stored), ...(health && { health }) });
}

async function end(): Promise<void> {
  stop.abort();
  await api.close();
}

async function restart(...providers: object[]): Promise<void> {
  await end();
  await configure(...providers);
  await start();
}

const raw = async () => {
  const { entries } = await stored.list({ start: '/core/secrets/', end: '/core/secrets0' });
  return entries.map(({ value }) => Buffer.from(value).toString('latin1').split(':').slice(0, 5).join(':'));
};
const get = (name: string) => api.call('GET', `${secrets}/${name}`);
const replace = async (name: string) =>
  (await api.call('PUT', `${secrets}/${name}`, (await get(name)).body)).body.metadata?.resourceVersion;
const connections = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;

test('what a plugin sealed is read after a restart, is stale under another key, and moves to keys of the file', async () => {
  await configure(kms.configuration, identity);
  await start();
  await api.call('POST', secrets, secret('s'));
  expect(await raw()).toEqual(['atoll:enc:kms:v2:vault']);
  await restart(kms.configuration);
  const first = (await get('s')).body.metadata.resourceVersion;
  expect(Buffer.from((await get('s')).body.data.word, 'base64').toString()).toBe('correct horse');
  expect(kms.calls.Decrypt).toBe(1);
  expect(await replace('s')).toBe(first);
  kms.keyId = 'key-2';
  await restart(kms.configuration);
  const second = await replace('s');
  expect(Number(second)).toBeGreaterThan(Number(first));
  expect(await replace('s')).toBe(second);
  await restart(aesgcm, kms.configuration);
  await replace('s');
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:a']);
  await restart(aesgcm);
  expect((await get('s')).status).toBe(200);
});

test('without the plugin a server starts, says that it is not ready, and serves what it can', async () => {
  await configure({ kms: { ...Object(kms.configuration).kms, timeout: '500ms' } });
  await start();
  await eventually(async () => expect((await api.call('POST', secrets, secret('s'))).status).not.toBe(500));
  expect((await api.call('GET', '/readyz/kms-providers')).status).toBe(200);
  await end();
  kms.stop();
  await start();
  for (const endpoint of ['readyz', 'livez', 'healthz']) {
    const { status, body } = await api.call('GET', `/${endpoint}`);
    expect([status, body]).toEqual([
      500,
      expect.stringContaining('[-]kms-providers failed: reason withheld'),
    ]);
  }
  expect((await api.call('GET', '/livez?exclude=kms-providers')).status).toBe(200);
  const refused = (message: string) => ({
    status: 500,
    body: { kind: 'Status', reason: 'InternalError', message: expect.stringContaining(message) },
  });
  const reads = [`${secrets}/s`, secrets, '/clusters/*/api/v1/secrets', `${secrets}?watch=true`];
  const waits = reads.slice(0, 3).map((path) => api.call('GET', path));
  // Who needs no plugin goes on.
  const configMap = { metadata: { name: 'c' } };
  expect((await api.call('POST', '/api/v1/namespaces/default/configmaps', configMap)).status).toBe(201);
  for (const wait of waits) {
    const why = 'failed to decrypt DEK, error: rpc error: code = ';
    expect(await wait).toMatchObject(
      refused(`Internal error occurred: unable to transform key "/core/secrets/root/default/s": ${why}`),
    );
  }
  expect(await api.call('POST', secrets, secret('t'))).toMatchObject(
    refused('Internal error occurred: kms provider vault gave no key to write with: '),
  );
  await kms.start();
  await eventually(async () => expect((await get('s')).status).toBe(200));
  await eventually(async () => expect((await api.call('GET', '/readyz')).status).toBe(200));
  expect((await api.call('POST', secrets, secret('t'))).status).toBe(201);
});

test('when the file is read again the former plugin is left, once the next one is healthy', async () => {
  const idle = connections();
  await configure(kms.configuration);
  await start(true);
  await api.call('POST', secrets, secret('s'));
  expect(connections()).toBeGreaterThan(idle);
  const next = new KmsPlugin(join(directory, 'next.sock'));
  const nextConfiguration = { kms: { ...Object(next.configuration).kms, name: 'next' } };
  await configure(nextConfiguration, kms.configuration);
  await eventually(async () => expect(kms.calls.Status).toBeGreaterThan(1));
  // It is not there: what was before is kept.
  await api.call('POST', secrets, secret('t'));
  expect(await raw()).toEqual(['atoll:enc:kms:v2:vault', 'atoll:enc:kms:v2:vault']);
  await next.start();
  await eventually(async () => {
    await replace('s');
    expect(await raw()).toEqual(['atoll:enc:kms:v2:next', 'atoll:enc:kms:v2:vault']);
  });
  await replace('t');
  await configure(aesgcm, nextConfiguration);
  await eventually(async () => {
    await replace('s');
    expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:a', 'atoll:enc:kms:v2:next']);
  });
  await replace('t');
  await configure(aesgcm);
  next.stop();
  await eventually(() => expect(connections()).toBeLessThanOrEqual(idle));
  expect((await get('t')).status).toBe(200);
  expect((await api.call('GET', '/readyz')).status).toBe(200);
});
