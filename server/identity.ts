import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { TokenKeys } from '../apiserver/authn/keys.ts';
import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { ListenOptions } from '../apiserver/options.ts';
import { type Authority, createAuthority, type Issued, loadAuthority } from '../apiserver/tls/ca.ts';
import type { Store } from '../storage/store.ts';
import { loadAccountKeys } from './account-keys.ts';
import { sharedSecret } from './secrets.ts';

/** Who the server is and how its administrator proves to be it. */
export interface Identity {
  /** PEM */
  ca: string;
  server: Issued;
  admin: Issued;
  adminToken: string;
  /** Of ServiceAccounts' tokens. */
  accountKeys: TokenKeys;
  /** Of a user who keeps the key: see apiserver/tls/ca.ts. */
  signClient: Authority['signClient'];
  /** The same, with new certificates of the server and the administrator. */
  renew(): Promise<Identity>;
}

export const adminUser = { name: 'admin', groups: [mastersGroup, 'system:authenticated'] };

/**
 * All servers on one store have one authority and one administrator's token: docs/decisions/0009. Certificates are
 * issued anew at each start; the server's names `host`, or all addresses of this machine when it listens on them, and
 * `names`.
 */
export async function loadIdentity(
  store: Store,
  host: string,
  dataDir: string,
  names: readonly string[] = [],
  now = Date.now,
): Promise<Identity> {
  const authority = await loadAuthority(
    await sharedSecret<Issued>(store, 'ca', async () => {
      const { certificate, privateKey } =
        (await formerAuthority(dataDir)) ?? (await createAuthority('atoll', now));
      return { certificate, privateKey };
    }),
    now,
  );
  const admin = await sharedSecret(store, 'admin', async () => ({
    token: (await formerToken(dataDir)) ?? randomBytes(32).toString('hex'),
  }));
  const accountKeys = await loadAccountKeys(store);
  const issue = async (): Promise<Identity> => ({
    ca: authority.certificate,
    server: await authority.issueServer([...new Set([...serverNames(host), ...names])]),
    admin: await authority.issueClient(adminUser.name, [mastersGroup]),
    adminToken: admin.token,
    accountKeys,
    signClient: authority.signClient,
    renew: issue,
  });
  return issue();
}

export function tlsOf(identity: Identity): ListenOptions['tls'] {
  return { key: identity.server.privateKey, cert: identity.server.certificate, ca: identity.ca };
}

function serverNames(host: string): string[] {
  const everywhere = host === '0.0.0.0' || host === '::';
  const addresses = Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map((i) => i.address));
  // A link-local address names its interface, which no certificate can.
  const own = everywhere
    ? [hostname(), ...addresses.filter((address) => !address.startsWith('fe80'))]
    : [host];
  return [...new Set(['localhost', '127.0.0.1', '::1', ...own])];
}

/** Before the store kept it, DIR/pki did. */
async function formerAuthority(dataDir: string): Promise<Issued | undefined> {
  const [certificate, privateKey] = ['ca.crt', 'ca.key'].map((file) => join(dataDir, 'pki', file));
  if (!certificate || !privateKey || !existsSync(certificate) || !existsSync(privateKey)) return undefined;
  return { certificate: await readFile(certificate, 'utf8'), privateKey: await readFile(privateKey, 'utf8') };
}

async function formerToken(dataDir: string): Promise<string | undefined> {
  const file = join(dataDir, 'pki', 'admin.token');
  return existsSync(file) ? (await readFile(file, 'utf8')).trim() : undefined;
}
