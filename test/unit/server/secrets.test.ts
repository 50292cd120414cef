import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { loadIdentity } from '../../../server/identity.ts';
import { sharedSecret } from '../../../server/secrets.ts';
import { openMemory } from '../../../storage/memory/memory.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-secrets-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('what servers share', () => {
  test('is made by one of those that start at once, and kept', async () => {
    const store = openMemory();
    const start = (n: number) => sharedSecret(store, 'key', async () => ({ n }));
    const all = await Promise.all([1, 2, 3].map(start));
    expect(new Set(all.map(({ n }) => n)).size).toBe(1);
    expect(await start(4)).toEqual(all[0]);
  });

  test('is one authority and one token', async () => {
    const store = openMemory();
    const [a, b] = [
      await loadIdentity(store, 'a.example', directory),
      await loadIdentity(store, '::', directory),
    ];
    expect(b.ca).toBe(a.ca);
    expect(b.adminToken).toBe(a.adminToken);
    expect(b.server.certificate).not.toBe(a.server.certificate);
  });

  test('comes from the data directory of an earlier version', async () => {
    const { certificate, privateKey } = await createAuthority('old');
    await mkdir(join(directory, 'pki'));
    await writeFile(join(directory, 'pki', 'ca.crt'), certificate);
    await writeFile(join(directory, 'pki', 'ca.key'), privateKey);
    await writeFile(join(directory, 'pki', 'admin.token'), 'secret\n');
    const identity = await loadIdentity(openMemory(), 'localhost', directory);
    expect([identity.ca, identity.adminToken]).toEqual([certificate, 'secret']);
  });
});
