import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import { loadEncryption } from '../../../server/encryption.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { backup, restore } from '../../../storage/backup.ts';
import { openLevel } from '../../../storage/level/level.ts';
import type { Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const word = 'correct horse battery staple';
const [a, b] = ['a', 'b'].map((name, i) => ({ name, secret: Buffer.alloc(32, i + 1).toString('base64') }));
const keys = (...all: (typeof a)[]) => ({ aesgcm: { keys: all } });
const identity = { identity: {} };
const secret = (name: string) => ({ metadata: { name, labels: { of: 'test' } }, stringData: { word } });

let directory: string;
let file: string;
let stored: Store;
let api: Api;
let stop: AbortController;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-encryption-'));
  file = join(directory, 'encryption.yaml');
});
afterEach(async () => {
  await end();
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

async function start(more: { store?: string; reload?: boolean; off?: boolean } = {}): Promise<void> {
  stop = new AbortController();
  const settings = resolveSettings(
    {
      dataDir: directory,
      ...(!more.off && { encryptionProviderConfig: file }),
      ...(more.reload && { encryptionProviderConfigAutomaticReload: 'true' }),
    },
    undefined,
    {},
  );
  const encryption = await loadEncryption({
    settings,
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });
  stored = await openLevel(join(directory, more.store ?? 'store'), { sync: false });
  api = startApi({ store: encryption.over(stored) });
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

/** Names of files below the directory that hold the text, as bytes or in base64. */
async function holders(...texts: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch((error) => {
      // The store writes a file beside its place, and then moves it there.
      if (error.code === 'ENOENT' && entry.name.endsWith('.new')) return Buffer.alloc(0);
      throw error;
    });
    if (texts.some((text) => bytes.includes(text))) found.push(entry.name);
  }
  return found;
}
/** Base64 of the word without what depends on its neighbours. */
const plain = [word, Buffer.from(word).toString('base64').slice(0, -4)];

const get = (name: string) => api.call('GET', `${secrets}/${name}`);
const raw = async () => {
  const { entries } = await stored.list({ start: '/core/secrets/', end: '/core/secrets0' });
  return entries.map(({ value }) => Buffer.from(value).toString('latin1').split(':').slice(0, 5).join(':'));
};
const replace = async (name: string) => {
  const { body } = await get(name);
  return (await api.call('PUT', `${secrets}/${name}`, body)).body.metadata?.resourceVersion;
};

test('no file holds what a Secret says, not after compaction, nor a backup, which needs the keys', async () => {
  await configure(keys(a));
  await start();
  for (let i = 0; i < 50; i++) await api.call('POST', secrets, secret(`s${i}`));
  await api.call('PATCH', `${secrets}/s1`, { metadata: { labels: { of: 'others' } } });
  await api.call('DELETE', `${secrets}/s2`);
  expect((await get('s1')).body.data.word).toBe(Buffer.from(word).toString('base64'));
  const selected = await api.call('GET', `${secrets}?labelSelector=of%3Dothers`);
  expect(selected.body.items).toHaveLength(1);
  expect(await holders(...plain)).toEqual([]);
  await stored.compact(stored.revision);
  await backup(stored, join(directory, 'backup'));
  await restore(join(directory, 'backup'), join(directory, 'restored'));
  await restart(keys(a));
  expect(await holders(...plain)).toEqual([]);
  expect((await holders('atoll:enc:aesgcm:v1:a:')).length).toBeGreaterThan(0);
  expect((await api.call('GET', secrets)).body.items).toHaveLength(49);
  await end();
  await start({ store: 'restored' });
  expect((await api.call('GET', secrets)).body.items).toHaveLength(49);
});

test('the test sees what is not encrypted', async () => {
  await start({ off: true });
  await api.call('POST', secrets, secret('s'));
  expect((await holders(...plain)).length).toBeGreaterThan(0);
});

test('keys are rotated in three steps; what is rewritten is written though nothing changes', async () => {
  await configure(keys(a));
  await start();
  await api.call('POST', secrets, secret('s'));
  const first = (await get('s')).body.metadata.resourceVersion;
  expect(await replace('s')).toBe(first);
  await restart(keys(a, b));
  expect(await replace('s')).toBe(first);
  await restart(keys(b, a));
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:a']);
  const second = await replace('s');
  expect(Number(second)).toBeGreaterThan(Number(first));
  expect(await replace('s')).toBe(second);
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:b']);
  await restart(keys(b));
  expect((await get('s')).body.metadata.resourceVersion).toBe(second);
});

test('what was plain is encrypted when it is rewritten, and the other way', async () => {
  await start({ off: true });
  await api.call('POST', secrets, secret('s'));
  await restart(keys(a), identity);
  const { body } = await get('s');
  await replace('s');
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:a']);
  await restart(identity, keys(a));
  await replace('s');
  await end();
  await start({ off: true });
  expect((await get('s')).body.data).toEqual(body.data);
});

test.each([
  ['with another', [keys(b)], 'no matching prefix found'],
  [
    'with another of the same name',
    [keys({ name: 'a', secret: `${b?.secret}` })],
    'cipher: message authentication failed',
  ],
  ['with none', [], 'identity transformer tried to read encrypted data'],
])('without its key, %s, nothing is served and nothing is lost', async (_, providers, why) => {
  await configure(keys(a));
  await start();
  await api.call('POST', secrets, secret('s'));
  await api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } });
  await end();
  if (providers.length > 0) await configure(...providers);
  await start({ off: providers.length === 0 });
  const message = `Internal error occurred: unable to transform key "/core/secrets/root/default/s": ${why}`;
  const refused = { status: 500, body: { kind: 'Status', code: 500, reason: 'InternalError', message } };
  expect(await get('s')).toMatchObject(refused);
  expect(await api.call('GET', secrets)).toMatchObject(refused);
  expect(await api.call('GET', '/clusters/*/api/v1/secrets')).toMatchObject(refused);
  expect(await api.call('DELETE', `${secrets}/s`)).toMatchObject(refused);
  expect(await api.call('PATCH', `${secrets}/s`, { data: {} })).toMatchObject(refused);
  expect((await api.call('GET', '/api/v1/namespaces/default/configmaps')).body.items).toHaveLength(1);
  await restart(keys(a));
  expect((await get('s')).body.data.word).toBe(Buffer.from(word).toString('base64'));
});

test('what was moved to another key is not read', async () => {
  await configure(keys(a));
  await start();
  await api.call('POST', secrets, secret('s'));
  const entry = await stored.get('/core/secrets/root/default/s');
  await stored.create('/core/secrets/root/kube-system/s', entry?.value ?? new Uint8Array());
  expect((await api.call('GET', '/api/v1/namespaces/kube-system/secrets/s')).status).toBe(500);
});

test('the file is read again when it changes, where that is asked for', async () => {
  await configure(keys(a));
  await start({ reload: true });
  await api.call('POST', secrets, secret('s'));
  await writeFile(file, 'nonsense');
  await configure(keys(b), keys(a));
  await eventually(async () => {
    await replace('s');
    expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:b']);
  });
});

test('a file that says what it cannot mean stops the start', async () => {
  await configure(keys(a));
  await start();
  await writeFile(file, '{}');
  const settings = resolveSettings({ encryptionProviderConfig: file }, undefined, {});
  await expect(
    loadEncryption({ settings, files: new TakenFiles(), signal: stop.signal, logger: silentLogger }),
  ).rejects.toThrow(`--encryption-provider-config ${file}: expected EncryptionConfiguration`);
  expect(() => resolveSettings({ encryptionProviderConfigAutomaticReload: 'true' }, undefined, {})).toThrow(
    '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
  );
});

test('a process that starts beside the first goes by what that has taken, whatever the file says by then', async () => {
  await configure(keys(a));
  const files = new TakenFiles();
  stop = new AbortController();
  const settings = resolveSettings({ dataDir: directory, encryptionProviderConfig: file }, undefined, {});
  const load = (own: TakenFiles) =>
    loadEncryption({ settings, files: own, signal: stop.signal, logger: silentLogger });
  const first = await load(files);
  await configure(keys(b));
  const beside = await load(new TakenFiles(files.texts));
  await writeFile(file, 'nonsense');
  const another = await load(new TakenFiles(files.texts));
  stored = await openLevel(join(directory, 'store'), { sync: false });
  api = startApi({ store: first.over(stored) });
  await another.over(stored).create('/core/secrets/root/default/s', Buffer.from('x'));
  for (const { over } of [first, beside])
    expect(await over(stored).get('/core/secrets/root/default/s')).toMatchObject({ value: Buffer.from('x') });
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:a']);
});

test('what is taken of a file that changed is what a process that starts then goes by', async () => {
  await configure(keys(a));
  const files = new TakenFiles();
  stop = new AbortController();
  const flags = { dataDir: directory, encryptionProviderConfig: file };
  const more = { encryptionProviderConfigAutomaticReload: 'true' };
  const settings = resolveSettings({ ...flags, ...more }, undefined, {});
  const { over } = await loadEncryption({ settings, files, signal: stop.signal, logger: silentLogger });
  stored = await openLevel(join(directory, 'store'), { sync: false });
  api = startApi({ store: over(stored) });
  await configure(keys(b));
  await eventually(() => expect(files.texts[file]).toContain('"b"'));
  await writeFile(file, 'nonsense');
  const beside = await loadEncryption({
    settings,
    files: new TakenFiles(files.texts),
    signal: stop.signal,
    logger: silentLogger,
  });
  await beside.over(stored).create('/core/secrets/root/default/s', Buffer.from('x'));
  expect(await raw()).toEqual(['atoll:enc:aesgcm:v1:b']);
});

test('kinds that there are not are told, as nothing is encrypted by them', async () => {
  await start({ off: true });
  const told: unknown[] = [];
  const logger = { ...silentLogger, warn: (values: object) => void told.push(values) };
  const resources = ['secret', 'configmaps', 'deployment.apps', 'widgets.example.com', '*.batch'];
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers: [keys(a)] }],
  };
  await writeFile(file, JSON.stringify(configuration));
  const settings = resolveSettings({ dataDir: directory, encryptionProviderConfig: file }, undefined, {});
  await loadEncryption({ settings, files: new TakenFiles(), signal: stop.signal, logger });
  expect(told).toEqual([{ file, resources: ['secret', 'deployment.apps'] }]);
});
