import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { silentLogger } from '../../../kube/log.ts';
import { etcdCertificate } from '../../../server/certificate-files.ts';
import { Certificates } from '../../../server/certificates.ts';
import { UsageError } from '../../../server/errors.ts';
import { loadIdentity } from '../../../server/identity.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { FakeClock } from '../controller/fake-clock.ts';

const day = 86_400_000;
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-certificates-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const load = () => loadIdentity(openMemory(), '127.0.0.1', directory, ['lb.example.com', '10.0.0.9']);

async function files(name: string) {
  const authority = await createAuthority('theirs');
  const { certificate, privateKey } = await authority.issueServer([name]);
  const chain = `${certificate}\n${authority.certificate}\n`;
  const paths = { certificate: join(directory, 'tls.crt'), privateKey: join(directory, 'tls.key') };
  const write = async () => {
    await writeFile(paths.certificate, chain);
    await writeFile(paths.privateKey, privateKey);
  };
  return { paths, write, certificate: chain, privateKey };
}

describe('issued certificates', () => {
  test('name what they were told', async () => {
    const certificates = await Certificates.load({
      identity: await load(),
      files: undefined,
      logger: silentLogger,
    });
    const { subjectAltName } = new X509Certificate(certificates.tls.cert);
    expect(subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:lb.example.com, IP Address:10.0.0.9',
    );
    for (const host of ['lb.example.com', '10.0.0.9', '::1'])
      expect(certificates.nameFor(host)).toBeUndefined();
    expect(certificates.nameFor('192.168.0.1')).toBe('localhost');
  });

  test.each([
    [0, false],
    [240, false],
    [250, true],
    [400, true],
  ])('after %s days are renewed: %s', async (days, renewed) => {
    const identity = await load();
    const clock = new FakeClock(Date.now());
    const certificates = await Certificates.load({ identity, logger: silentLogger, clock });
    clock.advance(days * day);
    expect(await certificates.refresh()).toBe(renewed);
    expect(certificates.tls.cert === identity.server.certificate).toBe(!renewed);
    expect(certificates.admin.certificate === identity.admin.certificate).toBe(!renewed);
    expect(certificates.trusted).toBe(identity.ca);
  });
});

test('certificates that were issued while the clock was ahead are issued anew once it is right', async () => {
  const store = openMemory();
  await loadIdentity(store, '127.0.0.1', directory);
  const hours = 8 * 3_600_000;
  let ahead = hours;
  const now = () => Date.now() + ahead;
  const identity = await loadIdentity(store, '127.0.0.1', directory, [], now);
  const clock = { now, after: () => () => {} };
  const certificates = await Certificates.load({ identity, logger: silentLogger, clock });
  expect(await certificates.refresh()).toBe(false);
  ahead = 0;
  expect(await certificates.refresh()).toBe(true);
  for (const pem of [certificates.tls.cert, certificates.admin.certificate])
    expect(Date.parse(new X509Certificate(pem).validFrom)).toBeLessThan(Date.now());
  expect(await certificates.refresh()).toBe(false);
});

describe('certificates from files', () => {
  test('are shown and trusted, and read again when they change', async () => {
    const identity = await load();
    const first = await files('one.example');
    await first.write();
    const certificates = await Certificates.load({ identity, files: first.paths, logger: silentLogger });
    expect(certificates.tls).toEqual({ cert: first.certificate, key: first.privateKey, ca: identity.ca });
    expect(certificates.trusted).toBe(`${identity.ca.trimEnd()}\n${first.certificate}`);
    expect(certificates.nameFor('127.0.0.1')).toBe('one.example');
    expect(await certificates.refresh()).toBe(false);
    const second = await files('two.example');
    await writeFile(second.paths.certificate, second.certificate);
    expect(await certificates.refresh()).toBe(false);
    expect(certificates.tls.cert).toBe(first.certificate);
    await second.write();
    expect(await certificates.refresh()).toBe(true);
    expect(certificates.tls).toMatchObject({ cert: second.certificate, key: second.privateKey });
  });

  test('of which the rest of the chain is half written are not taken: nothing could be shown with them', async () => {
    const first = await files('one.example');
    await first.write();
    const identity = await load();
    const certificates = await Certificates.load({ identity, files: first.paths, logger: silentLogger });
    const second = await files('two.example');
    await second.write();
    await writeFile(second.paths.certificate, second.certificate.slice(0, -100));
    expect(await certificates.refresh()).toBe(false);
    expect(certificates.tls.cert).toBe(first.certificate);
    await second.write();
    expect(await certificates.refresh()).toBe(true);
    expect(certificates.tls.cert).toBe(second.certificate);
  });

  test('are told of until somebody heard it', async () => {
    const first = await files('one.example');
    await first.write();
    const certificates = await Certificates.load({
      identity: await load(),
      files: first.paths,
      logger: silentLogger,
    });
    await (await files('two.example')).write();
    const stop = new AbortController();
    let calls = 0;
    const changed = async () => {
      if (++calls === 1) throw new Error('a disk is full');
      stop.abort();
    };
    await certificates.follow(stop.signal, changed, 1);
    expect(calls).toBe(2);
  });

  test('that are none are refused', async () => {
    const { paths, write } = await files('one.example');
    await write();
    const other = await files('two.example');
    await writeFile(paths.privateKey, other.privateKey);
    const refused = (file: typeof paths) =>
      Certificates.load({ identity: {} as never, files: file, logger: silentLogger });
    await expect(refused(paths)).rejects.toThrow(
      new UsageError(`--tls-cert-file ${paths.certificate}: the key in ${paths.privateKey} is another one's`),
    );
    await expect(refused({ ...paths, certificate: '/nowhere' })).rejects.toThrow('no such file');
    await expect(refused({ ...paths, certificate: paths.privateKey })).rejects.toThrow(
      `--tls-cert-file ${paths.privateKey}: it has no certificate`,
    );
    await expect(refused({ ...paths, privateKey: paths.certificate })).rejects.toThrow(
      `--tls-cert-file ${paths.certificate}: ${paths.certificate} has no private key, or one that takes a password`,
    );
  });
});

describe('when they expire', () => {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (values: unknown) => void warned.push(values) };
  const told = () => warned.splice(0).map((one) => (one as { certificate: string }).certificate);

  test('is known of each', async () => {
    const first = await files('one.example');
    await first.write();
    const identity = await load();
    const issued = await Certificates.load({ identity, logger: silentLogger });
    const days = ({ until }: { until: number }) => Math.round((until - Date.now()) / day);
    const shown = ({ expirations }: Certificates) =>
      expirations.map((one) => [one.certificate, days(one), one.renewed]);
    expect(shown(issued)).toEqual([
      ['authority', 3650, false],
      ['server', 365, true],
      ['administrator', 365, true],
    ]);
    const proxyCaFile = join(directory, 'proxies.crt');
    await writeFile(proxyCaFile, (await createAuthority('proxies')).certificate);
    const own = await Certificates.load({ identity, files: first.paths, proxyCaFile, logger: silentLogger });
    expect(shown(own)).toEqual([
      ['authority', 3650, false],
      ['server', 365, false],
      ['administrator', 365, true],
      ['proxies', 3650, false],
    ]);
  });

  test('is known of the one for etcd, as it is now, which a person renews', async () => {
    const etcdFile = join(directory, 'etcd.crt');
    const authority = await createAuthority('etcd');
    await writeFile(etcdFile, (await authority.issueClient('atoll', [])).certificate);
    const certificates = await Certificates.load({ identity: await load(), etcdFile, logger: silentLogger });
    const shown = () => certificates.expirations.find(({ certificate }) => certificate === 'etcd');
    expect(shown()).toMatchObject({ renewed: false });
    const { until } = shown()!;
    await writeFile(etcdFile, authority.certificate);
    // The store shows it to etcd: that the server has nothing new to show itself.
    expect(await certificates.refresh()).toBe(false);
    expect(shown()!.until).toBeGreaterThan(until);
    await rm(etcdFile);
    await certificates.refresh();
    expect(shown()!.until).toBeGreaterThan(until);
  });

  test.each([
    ['level:data/store', undefined],
    ['etcd://a:1,b:2/atoll', undefined],
    ['etcd://a:1?ca=ca.crt&cert=client.crt&key=client.key', 'client.crt'],
  ])('the store %s has the certificate %s', (storage, file) => {
    expect(etcdCertificate(storage)).toBe(file);
  });

  test('somebody is warned of what only a person can renew, each day of its last tenth', async () => {
    const first = await files('one.example');
    await first.write();
    const start = Date.now();
    const clock = new FakeClock(start);
    const now = () => clock.now();
    const identity = await loadIdentity(openMemory(), '127.0.0.1', directory, [], now);
    const certificates = await Certificates.load({ identity, files: first.paths, logger, clock });
    const at = async (days: number) => {
      clock.advance(start + days * day - clock.now());
      await certificates.refresh();
      return told();
    };
    expect(await at(320)).toEqual([]);
    expect(await at(330.1)).toEqual(['server']);
    expect(await at(330.2)).toEqual([]);
    expect(await at(331.2)).toEqual(['server']);
    expect(await at(400)).toEqual(['server']);
    await (await files('two.example')).write();
    // What replaced it was issued today, too.
    expect(await at(10)).toEqual([]);
    expect(await at(3300)).toEqual(['authority', 'server']);
    expect(new Set(certificates.expirations.map(({ renewed, until }) => renewed && until < now()))).toEqual(
      new Set([false]),
    );
  });

  test('who starts with such a one is warned, too', async () => {
    const then = Date.now() - 3640 * day;
    const identity = await loadIdentity(openMemory(), '127.0.0.1', directory, [], () => then);
    await Certificates.load({ identity, logger });
    expect(told()).toEqual(['authority']);
  });
});

describe('the authority of proxies', () => {
  test('is read again when it changes; what is none is not taken', async () => {
    const proxyCaFile = join(directory, 'front.crt');
    const authority = async () => (await createAuthority('front')).certificate;
    const [first, second] = [await authority(), await authority()];
    await writeFile(proxyCaFile, first);
    const certificates = await Certificates.load({
      identity: await load(),
      proxyCaFile,
      logger: silentLogger,
    });
    expect(certificates.tls.proxyCa).toBe(first);
    expect(await certificates.refresh()).toBe(false);
    await writeFile(proxyCaFile, 'no certificate');
    expect(await certificates.refresh()).toBe(false);
    await writeFile(proxyCaFile, second);
    expect(await certificates.refresh()).toBe(true);
    expect(certificates.tls.proxyCa).toBe(second);
  });

  test('that is none is refused', async () => {
    const proxyCaFile = join(directory, 'none.crt');
    await writeFile(proxyCaFile, 'no certificate');
    await expect(
      Certificates.load({ identity: await load(), proxyCaFile, logger: silentLogger }),
    ).rejects.toThrow(new UsageError(`--requestheader-client-ca-file ${proxyCaFile}: it has no certificate`));
  });
});
