import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Plugin } from '../../../../apiserver/encryption/kms/plugin.ts';
import { Rules } from '../../../../apiserver/encryption/rules.ts';
import { encryptedStore } from '../../../../apiserver/encryption/store.ts';
import { isStale } from '../../../../apiserver/registry/stale.ts';
import { EncryptionMetrics } from '../../../../server/metrics/encryption.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../../../storage/store.ts';
import { eventually } from '../../../eventually.ts';
import { KmsPlugin } from '../../../kms/plugin.ts';

const at = (name: string) => `/core/secrets/root/default/${name}`;
const bytes = (text: string) => Buffer.from(text);
const range = prefixRange('/core/secrets/');
const minute = 60_000;
/** For plugins that do not answer. */
const short = '500ms';

let directory: string;
let kms: KmsPlugin;
let stored: Store;
let metrics: EncryptionMetrics;
let now: number;
let stop: AbortController;
const plugins: Plugin[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-kms-'));
  kms = new KmsPlugin(join(directory, 'kms.sock'));
  await kms.start();
  [stored, metrics, now, stop] = [openMemory(), new EncryptionMetrics(), Date.now(), new AbortController()];
});
afterEach(async () => {
  stop.abort();
  kms.stop();
  await Promise.all(plugins.splice(0).map((plugin) => plugin.close()));
  await stored.close();
  await rm(directory, { recursive: true });
});

/** A process with a plugin of its own. */
async function started(timeout = '30s') {
  const configuration = { apiVersion: 'v2', name: 'vault', endpoint: `unix://${kms.socket}`, timeout };
  const plugin = new Plugin(configuration, metrics, () => now);
  plugins.push(plugin);
  let problem = await told(plugin);
  // A machine that is busy may take longer than a short timeout.
  while (kms.runs && problem?.includes('DeadlineExceeded')) {
    now += 5000;
    problem = await told(plugin);
  }
  const providers = [{ kms: configuration }];
  const rules = new Rules({ resources: [{ resources: ['secrets'], providers }] }, () => plugin);
  const lost: string[] = [];
  const store = encryptedStore(
    stored,
    () => rules,
    (key) => lost.push(key),
  );
  return { plugin, store, problem, lost };
}

/** What is wrong with it. */
function told(plugin: Plugin): Promise<string | undefined> {
  return plugin.check().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Until the plugin is well again. */
function well(plugin: Plugin): Promise<void> {
  return eventually(async () => {
    now += 5000;
    await plugin.check();
  });
}

async function heard(store: Store, of = range) {
  const [values, ends]: [string[], string[]] = [[], []];
  await store.watch(of, {
    after: store.revision,
    signal: stop.signal,
    sink: (events) => values.push(...events.map(({ entry }) => Buffer.from(entry.value).toString())),
    onEnd: (error) => ends.push(`${error.code}: ${error.message}`),
  });
  return { values, ends };
}

const text = async (store: Store, name: string) => {
  const entry = await store.get(at(name));
  return entry && Buffer.from(entry.value).toString();
};

describe('seeds', () => {
  test('one for each process, whatever is written; another asks the plugin once for all that it wrote', async () => {
    const [a, b] = [await started(), await started()];
    for (const name of ['a', 'b', 'c']) await a.store.create(at(name), bytes(`value of ${name}`));
    const raw = await stored.get(at('a'));
    expect(Buffer.from(raw?.value ?? []).toString('latin1')).toMatch(/^atoll:enc:kms:v2:vault:/);
    expect(Buffer.from(raw?.value ?? []).includes('value of')).toBe(false);
    expect(kms.calls).toMatchObject({ Encrypt: 2, Decrypt: 0 });
    const lists = await Promise.all([b.store.list(range), b.store.list(range)]);
    expect(lists.map(({ entries }) => entries.length)).toEqual([3, 3]);
    expect(await text(b.store, 'b')).toBe('value of b');
    expect(kms.calls).toMatchObject({ Encrypt: 2, Decrypt: 1 });
    expect(metrics.families().map(({ definition }) => definition.name)).toContain(
      'apiserver_envelope_encryption_dek_source_cache_size',
    );
  });

  test('what was moved to another name, or to another value, is not read', async () => {
    const { store } = await started();
    await store.create(at('a'), bytes('a'));
    const { value } = (await stored.get(at('a'))) as { value: Uint8Array };
    await stored.create(at('b'), value);
    await expect(store.get(at('b'))).rejects.toMatchObject({
      code: 'corrupt',
      message: `unable to transform key "${at('b')}": cipher: message authentication failed`,
    });
    const changed = Buffer.from(value);
    const byte = changed.indexOf('key-1') + 4;
    changed[byte] = '2'.charCodeAt(0);
    await stored.create(at('c'), changed);
    await expect(store.get(at('c'))).rejects.toMatchObject({
      message: `unable to transform key "${at('c')}": failed to decrypt DEK, error: rpc error: code = InvalidArgument desc = it is not mine`,
    });
    await stored.create(at('d'), value.subarray(0, 40));
    await expect(store.get(at('d'))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('rotation', () => {
  test('another key id makes what is stored stale, and another seed', async () => {
    const { store, plugin } = await started();
    const first = await store.create(at('a'), bytes('a'));
    const read = async (name: string) => isStale((await store.get(at(name))) as object as typeof first);
    expect(await read('a')).toBe(false);
    kms.keyId = 'key-2';
    await plugin.check();
    expect(await read('a')).toBe(false);
    now += minute;
    await plugin.check();
    expect(await read('a')).toBe(true);
    await store.update(at('a'), bytes('a'), first.revision);
    expect(await read('a')).toBe(false);
    expect(kms.calls).toMatchObject({ Encrypt: 2, Decrypt: 0 });
    const other = await started();
    expect(await text(other.store, 'a')).toBe('a');
  });

  test('a key that Status names and Encrypt does not use is not taken', async () => {
    const { store, plugin } = await started();
    kms.status = { keyId: 'key-2' };
    now += minute;
    await expect(plugin.check()).rejects.toThrow(/failed to rotate DEK .*statusKeyIDHash="sha256:/);
    await store.create(at('a'), bytes('a'));
    expect(await text(store, 'a')).toBe('a');
  });
});

describe('a clock that is set', () => {
  const own = (timeout = '30s') => {
    const configuration = { apiVersion: 'v2', name: 'vault', endpoint: `unix://${kms.socket}`, timeout };
    const plugin = new Plugin(configuration, metrics);
    plugins.push(plugin);
    return plugin;
  };
  let offset = 0;
  const wall = Date.now;
  beforeEach(() => {
    offset = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => wall() + offset);
  });
  afterEach(() => void vi.restoreAllMocks());

  test('ends nothing that can be written with', async () => {
    const plugin = own();
    await plugin.check();
    offset = 86_400_000;
    expect(plugin.seal(bytes('a'), bytes('a'))).not.toEqual([]);
  });

  test('leaves nobody with the word that it was not healthy', async () => {
    kms.stop();
    const plugin = own(short);
    await expect(plugin.check()).rejects.toThrow();
    await kms.start();
    offset = -86_400_000;
    await eventually(async () => expect(await told(plugin)).toBeUndefined());
    expect(plugin.seal(bytes('a'), bytes('a'))).not.toEqual([]);
  });
});

describe('a plugin that is away', () => {
  test('what was read is read, what is written is for three minutes, and what is not known fails', async () => {
    const [a, b] = [await started(short), await started(short)];
    await a.store.create(at('a'), bytes('a'));
    await b.store.create(at('b'), bytes('b'));
    kms.stop();
    expect(await text(a.store, 'a')).toBe('a');
    await expect(a.store.get(at('b'))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        `^unable to transform key "${at('b')}": failed to decrypt DEK, error: rpc error: code = (DeadlineExceeded|Unavailable) `,
      ),
    });
    now += 2 * minute;
    await expect(a.plugin.check()).rejects.toThrow(
      'failed to perform status section of the healthz check for KMS Provider vault, error: rpc error: code = ',
    );
    await a.store.create(at('c'), bytes('c'));
    now += 2 * minute;
    await expect(a.store.create(at('d'), bytes('d'))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        /^encryptedDEKSource with keyID hash "sha256:\w{64}" expired at \S+Z \(current time is \S+Z\)$/,
      ),
    });
    expect(await text(a.store, 'c')).toBe('c');
    await kms.start();
    await well(a.plugin);
    await a.store.create(at('d'), bytes('d'));
    await eventually(async () => expect(await text(a.store, 'b')).toBe('b'));
  });

  test('from the start: nothing is written, and what is there is read when it is back', async () => {
    const before = await started(short);
    await before.store.create(at('a'), bytes('a'));
    kms.stop();
    const { store, plugin, problem } = await started(short);
    expect(problem).toMatch(/^failed to perform status section .* code = DeadlineExceeded/);
    await expect(store.create(at('b'), bytes('b'))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        '^kms provider vault gave no key to write with: failed to perform status',
      ),
    });
    await kms.start();
    await eventually(async () => expect(await text(store, 'a')).toBe('a'));
    await well(plugin);
    await store.create(at('b'), bytes('b'));
  });

  test('one that hangs holds up who needs it, and nobody else', async () => {
    const [a, b] = [await started(short), await started(short)];
    await a.store.create(at('a'), bytes('a'));
    await b.store.create(at('b'), bytes('b'));
    kms.hangs = 'Decrypt';
    const waits = a.store.get(at('b'));
    waits.catch(() => undefined);
    expect(await text(a.store, 'a')).toBe('a');
    await a.store.create(at('c'), bytes('c'));
    expect(await Promise.race([waits, 'not yet'])).toBe('not yet');
    await expect(waits).rejects.toMatchObject({ code: 'corrupt' });
    // Who comes next hears the same, and the plugin is not asked for every value.
    await expect(a.store.list(range)).rejects.toMatchObject({ code: 'corrupt' });
    expect(kms.calls.Decrypt).toBe(1);
  });
});

describe('watches', () => {
  test('tell in order what another process wrote, once its seed is known', async () => {
    const [a, b] = [await started(), await started()];
    const { values, ends } = await heard(a.store);
    await a.store.create(at('a'), bytes('1'));
    for (const i of ['2', '3', '4']) await b.store.create(at(`b${i}`), bytes(i));
    await a.store.create(at('c'), bytes('5'));
    await eventually(() => expect(values).toEqual(['1', '2', '3', '4', '5']));
    await b.store.create(at('d'), bytes('6'));
    await eventually(() => expect(values).toHaveLength(6));
    expect([ends, kms.calls.Decrypt]).toEqual([[], 1]);
  });

  test('end where the seed of what they would show cannot be had; one over several kinds goes on without', async () => {
    const [a, b] = [await started(short), await started(short)];
    const one = await heard(a.store);
    const several = await heard(a.store, prefixRange('/'));
    kms.hangs = 'Decrypt';
    await b.store.create(at('a'), bytes('secret'));
    await b.store.create('/core/configmaps/root/default/c', bytes('plain'));
    await eventually(() =>
      expect(one.ends).toEqual([expect.stringMatching(/^corrupt: unable to transform/)]),
    );
    await eventually(() => expect(several).toEqual({ values: ['plain'], ends: [] }));
    expect(a.lost).toEqual([at('a')]);
  });

  test('one that is stopped while it waits tells nothing', async () => {
    const [a, b] = [await started(short), await started(short)];
    const told: unknown[] = [];
    const end = await a.store.watch(range, { after: 0, sink: (events) => told.push(...events) });
    kms.hangs = 'Decrypt';
    await b.store.create(at('a'), bytes('secret'));
    await eventually(() => expect(kms.calls.Decrypt).toBe(1));
    end();
    await expect(a.store.get(at('a'))).rejects.toMatchObject({ code: 'corrupt' });
    expect(told).toEqual([]);
  });
});

const long = 'x'.repeat(1025);
test.each<[string, KmsPlugin['status'], KmsPlugin['encrypted'], string]>([
  ['no health', { healthz: 'sealed' }, {}, 'got unexpected healthz status: sealed'],
  ['another version', { version: 'v1beta1' }, {}, 'expected KMSv2 API version v2, got v1beta1'],
  ['no key id', { keyId: '' }, {}, 'got invalid KMSv2 KeyID hash "": keyID is empty'],
  ['a long key id', { keyId: long }, {}, 'keyID is 1025 bytes, which exceeds the max size of 1024'],
  ['another key id', {}, { keyId: 'key-9' }, 'failed to rotate DEK errGen=<nil>'],
  ['an empty seed', {}, { ciphertext: Buffer.alloc(0) }, 'encrypted DEK source is empty'],
  [
    'a long seed',
    {},
    { ciphertext: Buffer.alloc(1025) },
    'failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes, which exceeds the max size of 1024',
  ],
  [
    'an annotation without a domain',
    {},
    { annotations: { nonce: Buffer.alloc(1) } },
    'annotations: Invalid value: "nonce": should be a domain with at least two segments separated by dots',
  ],
  [
    'long annotations',
    {},
    { annotations: { 'a.b': Buffer.alloc(32 * 1024) } },
    'total size of annotations is 32771, which exceeds the max size of 32768',
  ],
])('a plugin that answers %s is not healthy', async (_, status, encrypted, why) => {
  Object.assign(kms, { status, encrypted });
  const { problem } = await started();
  expect(problem).toContain('kmsv2 Provider vault is not healthy, error: ');
  expect(problem).toContain(why);
});
