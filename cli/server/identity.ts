import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, createAuthority, type Issued, loadAuthority } from '../../apiserver/tls/ca.ts';

/** Who the server is and how its administrator proves to be it; kept in DIR/pki, readable by the owner alone. */
export interface Identity {
  /** PEM */
  ca: string;
  server: Issued;
  admin: Issued;
  adminToken: string;
}

export const adminUser = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

/** Loads what an earlier start made, and makes what is missing. The server's certificate names `host` too. */
export async function loadIdentity(dataDir: string, host: string): Promise<Identity> {
  const dir = join(dataDir, 'pki');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const authority = await loadOrCreateAuthority(dir);
  const names = [
    ...new Set(['localhost', '127.0.0.1', '::1', ...(host === '0.0.0.0' || host === '::' ? [] : [host])]),
  ];
  const server = await authority.issueServer(names);
  const admin = await kept(dir, 'admin', () => authority.issueClient(adminUser.name, ['system:masters']));
  const token = join(dir, 'admin.token');
  if (!existsSync(token)) await writePrivate(token, randomBytes(32).toString('hex'));
  return { ca: authority.certificate, server, admin, adminToken: (await readFile(token, 'utf8')).trim() };
}

async function loadOrCreateAuthority(dir: string): Promise<Authority> {
  const { certificate, privateKey } = await kept(dir, 'ca', () => createAuthority('atoll'));
  return loadAuthority({ certificate, privateKey });
}

async function kept(dir: string, name: string, make: () => Promise<Issued>): Promise<Issued> {
  const [certificate, privateKey] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  if (!existsSync(certificate) || !existsSync(privateKey)) {
    const made = await make();
    await writePrivate(privateKey, made.privateKey);
    await writePrivate(certificate, made.certificate);
  }
  return { certificate: await readFile(certificate, 'utf8'), privateKey: await readFile(privateKey, 'utf8') };
}

/** Whole or not at all, and never readable by others. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, text, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, file);
}
