import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEtcd } from '../../storage/etcd/open.ts';
import { etcdOptions } from '../../storage/etcd/url.ts';
import { openStore } from '../../storage/open.ts';
import { prefixRange } from '../../storage/store.ts';
import { bytes, fails, record, text } from '../contract/store.ts';
import { until } from '../contract/until.ts';
import { createTestAuthority, type TestAuthority } from './authority.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { startProxy } from './proxy.ts';

const tlsFlags = ({ ca, server }: TestAuthority) => [
  '--cert-file',
  server.cert,
  '--key-file',
  server.key,
  '--trusted-ca-file',
  ca,
  '--client-cert-auth',
];

describe('TLS', () => {
  let dir: string;
  let authority: TestAuthority;
  let etcd: Etcd;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'atoll-etcd-tls-'));
    authority = await createTestAuthority(dir);
    etcd = await startEtcd({ args: tlsFlags(authority) });
  });
  afterAll(async () => {
    await etcd.stop();
    await rm(dir, { recursive: true });
  });

  it('proves both sides, with files named in the URL', async () => {
    const { ca, client } = authority;
    const url = `etcd://${etcd.endpoint}/tls?ca=${ca}&cert=${client.cert}&key=${client.key}`;
    const store = await openStore(url);
    const entry = await store.create('/a', bytes('1'));
    expect(await store.get('/a')).toEqual(entry);
    await store.close();
  });

  it('goes on with certificates that replace those in the files, without a restart', async () => {
    const there = await mkdtemp(join(dir, 'replaced-'));
    const mine = await createTestAuthority(there);
    const own = await startEtcd({ args: tlsFlags(mine) });
    const url = `//${own.endpoint}/?ca=${mine.ca}&cert=${mine.client.cert}&key=${mine.client.key}`;
    const store = await openEtcd({ ...(await etcdOptions(url)), secretsMs: 50, compaction: false });
    const watch = await record(store, prefixRange('/'), store.revision);
    const entry = await store.create('/a', bytes('1'));
    // The same files, of another authority: nothing of the former ones is trusted any more.
    await createTestAuthority(there);
    await own.kill();
    await own.start();
    await store.update('/a', bytes('2'), entry.revision);
    await until(() => watch.events.length === 2);
    expect(watch.events.map((e) => text(e.entry))).toEqual(['1', '2']);
    expect(watch.ends).toEqual([]);
    await store.close();
    await own.stop();
  });

  it('keeps those of before while the files are no pair', async () => {
    const there = await mkdtemp(join(dir, 'half-'));
    const { ca, client } = authority;
    const pair = { cert: join(there, 'client.crt'), key: join(there, 'client.key') };
    await cp(client.cert, pair.cert);
    await cp(client.key, pair.key);
    const lines: string[] = [];
    const note = (_fields: object, message: string) => void lines.push(message);
    const logger = { info: note, warn: note };
    const options = await etcdOptions(`//${etcd.endpoint}/half?ca=${ca}&cert=${pair.cert}&key=${pair.key}`);
    const store = await openEtcd({ ...options, logger, secretsMs: 20, compaction: false });
    await cp(authority.server.cert, pair.cert);
    await until(() => lines.length > 0);
    expect(lines).toEqual(['the former certificates and password for etcd are kept']);
    expect(await store.get('/a')).toBeUndefined();
    await store.close();
  });

  it.each([
    ['another authority', async (ca: string, dir: string) => cp((await createTestAuthority(dir)).ca, ca)],
    ['half of one', async (ca: string) => writeFile(ca, (await readFile(ca, 'utf8')).slice(0, 200))],
    ['nothing', async (ca: string) => writeFile(ca, '')],
  ])('keeps those of before while etcd is not what they trust: %s', async (_, spoil) => {
    const there = await mkdtemp(join(dir, 'spoilt-'));
    const ca = join(there, 'trusted.crt');
    await cp(authority.ca, ca);
    const lines: string[] = [];
    const note = (_fields: object, message: string) => void lines.push(message);
    const { cert, key } = authority.client;
    const options = await etcdOptions(`//${etcd.endpoint}/spoilt?ca=${ca}&cert=${cert}&key=${key}`);
    const store = await openEtcd({
      ...options,
      logger: { info: note, warn: note },
      secretsMs: 20,
      compaction: false,
    });
    const lease = await store.acquire('leader', 10_000);
    await spoil(ca, there);
    await until(() => lines.length > 0);
    expect(lines).toEqual(['the former certificates and password for etcd are kept']);
    expect(await lease?.keepAlive()).toBe(true);
    await cp(authority.ca, ca);
    await lease?.release();
    await store.close();
  });

  it('refuses a server of another authority, and a client without a certificate', async () => {
    const other = await createTestAuthority(await mkdtemp(join(dir, 'other-')));
    const open = (ca: string) =>
      openEtcd({ endpoints: [etcd.endpoint], tls: { ca }, patienceMs: 500, compaction: false });
    await fails(open(other.caText), 'unavailable');
    await fails(open(authority.caText), 'unavailable');
  });
});

describe('passwords', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await startEtcd({ args: ['--auth-token-ttl', '1'] });
    const post = async (path: string, body: object): Promise<void> => {
      const url = `http://${etcd.endpoint}/v3/auth/${path}`;
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    };
    await post('user/add', { name: 'root', password: 'secret' });
    await post('user/grant', { user: 'root', role: 'root' }).catch(async () => {
      await post('role/add', { name: 'root' });
      await post('user/grant', { user: 'root', role: 'root' });
    });
    const text64 = (text: string) => Buffer.from(text).toString('base64');
    await post('user/add', { name: 'atoll', password: 'few rights' });
    await post('role/add', { name: 'prefix' });
    const perm = { permType: 'READWRITE', key: text64('/few/'), range_end: text64('/few0') };
    await post('role/grant', { name: 'prefix', perm });
    await post('user/grant', { user: 'atoll', role: 'prefix' });
    await post('enable', {});
  });
  afterAll(() => etcd.stop());

  it('log in, and again when the token has expired', async () => {
    const proxy = await startProxy(etcd.port);
    const options = { username: 'root', password: 'secret', compaction: false } as const;
    const store = await openEtcd({ ...options, endpoints: [etcd.endpoint] });
    const other = await openEtcd({ ...options, endpoints: [proxy.endpoint] });
    const idle = await record(other, prefixRange('/'), other.revision);
    const entry = await store.create('/a', bytes('1'));
    await until(() => idle.events.length === 1);
    // Nothing tells that a token has expired, short of using it.
    await sleep(3000);
    const changed = await store.update('/a', bytes('2'), entry.revision);
    await until(() => idle.events.length === 2);
    proxy.cut();
    await store.update('/a', bytes('3'), changed.revision);
    // Nobody calls the other store: its watch alone has to find out that it must log in.
    await until(() => idle.events.length === 3);
    expect(idle.events.map((e) => text(e.entry))).toEqual(['1', '2', '3']);
    await store.close();
    await other.close();
    await proxy.stop();
  });

  it('of a user who has the rights to the prefix alone serve; that it cannot compact is told once, and what others compact is known', async () => {
    const endpoints = [etcd.endpoint];
    const told: string[] = [];
    const logger = { info: () => {}, warn: (_: object, message: string) => void told.push(message) };
    const login = { username: 'atoll', password: 'few rights', prefix: '/few', logger };
    const store = await openEtcd({ endpoints, ...login, compaction: { intervalMs: 100, leaseSeconds: 2 } });
    const root = await openEtcd({ endpoints, username: 'root', password: 'secret', compaction: false });
    let entry = await store.create('/a', bytes('0'));
    for (let i = 0; told.length === 0; i++) {
      entry = await store.update('/a', bytes(`${i}`), entry.revision);
      await sleep(50);
    }
    await root.compact(entry.revision);
    await until(() => store.compacted >= entry.revision);
    entry = await store.update('/a', bytes('last'), entry.revision);
    expect(text(await store.get('/a'))).toBe('last');
    expect(told).toEqual([expect.stringContaining('may not compact it')]);
    await store.close();
    await root.close();
  });

  it('that etcd does not know are not taken from the file until it does', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'atoll-etcd-password-'));
    const file = join(dir, 'password');
    await writeFile(file, 'few rights');
    const lines: string[] = [];
    const note = (_fields: object, message: string) => void lines.push(message);
    const options = await etcdOptions(`//atoll@${etcd.endpoint}/few?password-file=${file}`);
    const logger = { info: note, warn: note };
    const store = await openEtcd({ ...options, logger, secretsMs: 20, compaction: false });
    await writeFile(file, '');
    await until(() => lines.length > 0);
    await writeFile(file, 'another');
    await sleep(100);
    expect(new Set(lines)).toEqual(new Set(['the former certificates and password for etcd are kept']));
    const refusals = lines.length;
    const headers = { 'content-type': 'application/json' };
    const login = await fetch(`http://${etcd.endpoint}/v3/auth/authenticate`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'root', password: 'secret' }),
    });
    const { token } = (await login.json()) as { token: string };
    await fetch(`http://${etcd.endpoint}/v3/auth/user/changepw`, {
      method: 'POST',
      headers: { ...headers, authorization: token },
      body: JSON.stringify({ name: 'atoll', password: 'another' }),
    });
    await until(() => lines.length > refusals);
    expect(lines.at(-1)).toBe('the files of the etcd URL were read anew');
    expect(await store.get('/none')).toBeUndefined();
    await store.close();
    await rm(dir, { recursive: true });
  });

  it('may come from a file; wrong ones and none are refused', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'atoll-etcd-password-'));
    await writeFile(join(dir, 'password'), 'secret\n');
    const url = `etcd://${etcd.endpoint}/?username=root&password-file=${join(dir, 'password')}`;
    await (await openStore(url)).close();
    await rm(dir, { recursive: true });
    const endpoints = [etcd.endpoint];
    await fails(openEtcd({ endpoints, username: 'root', password: 'wrong', patienceMs: 500 }), 'unavailable');
    await fails(openEtcd({ endpoints, patienceMs: 500 }), 'unavailable');
  });
});
