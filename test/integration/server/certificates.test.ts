import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import { forLogicalCluster } from '../../../server/kubeconfig.ts';
import { type Atoll, startAtoll } from '../../atoll/atoll.ts';

let directory = '';
let atoll: Atoll;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-tls-'));
});
afterEach(async () => {
  await atoll?.dispose();
  await rm(directory, { recursive: true, force: true });
});

async function shown(): Promise<X509Certificate> {
  const { hostname: host, port } = new URL(atoll.listening);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return new X509Certificate(raw);
}

const kubeconfig = () => readFile(atoll.kubeconfig, 'utf8');

/** Whether who has this kubeconfig gets an answer at where the server really listens. */
async function reaches(text: string): Promise<boolean> {
  const transport = await transportFromKubeconfig(text.replaceAll(atoll.url, atoll.listening));
  try {
    return JSON.stringify(await new Client(transport).json('/version')).includes('+atoll');
  } finally {
    transport.close();
  }
}

test('kubeconfigs carry the advertised address, which the certificate names', async () => {
  atoll = await startAtoll({
    args: ['--advertise-address', 'lb.example.com:443', '--tls-san', 'a.example', '--tls-san', '10.1.2.3'],
  });
  expect(atoll.url).toBe('https://lb.example.com:443');
  expect(await kubeconfig()).toContain('server: https://lb.example.com:443\n');
  expect(forLogicalCluster(await kubeconfig(), 'root:a')).toContain(
    'server: https://lb.example.com:443/clusters/root:a\n',
  );
  const { subjectAltName } = await shown();
  for (const name of ['DNS:lb.example.com', 'DNS:a.example', 'IP Address:10.1.2.3'])
    expect(subjectAltName).toContain(name);
});

test('own certificates are shown and trusted, and those that replace them, without a restart', async () => {
  const [certificate, privateKey] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  const write = async (name: string) => {
    const issued = await (await createAuthority('theirs')).issueServer([name]);
    await writeFile(certificate, issued.certificate);
    await writeFile(privateKey, issued.privateKey);
  };
  await write('one.example');
  atoll = await startAtoll({ args: ['--tls-cert-file', certificate, '--tls-private-key-file', privateKey] });
  expect((await shown()).subjectAltName).toBe('DNS:one.example');
  expect(await kubeconfig()).toContain('tls-server-name: one.example\n');
  expect(await reaches(await kubeconfig())).toBe(true);
  await write('two.example');
  while ((await shown()).subjectAltName !== 'DNS:two.example') await sleep(100);
  while (!(await kubeconfig()).includes('tls-server-name: two.example\n')) await sleep(100);
  expect(await reaches(await kubeconfig())).toBe(true);
});
