import { generateKeyPairSync } from 'node:crypto';
import { TokenKey } from '../apiserver/authn/jwt.ts';
import { type SigningKey, TokenKeys } from '../apiserver/authn/keys.ts';
import type { Store } from '../storage/store.ts';
import { changeSecret, sharedSecret } from './secrets.ts';

/** `key`: the only one there is before another is made. */
interface Kept {
  key: string;
  keys?: SigningKey[];
}

const name = 'service-accounts';

/** Of ServiceAccounts' tokens: those of all servers on the store. */
export async function loadAccountKeys(store: Store): Promise<TokenKeys> {
  const read = async () => keysIn(await sharedSecret<Kept>(store, name, async () => ({ key: newKey() })));
  return new TokenKeys(await read(), read);
}

/** As whoever verifies tokens may know it. */
export interface ShownKey {
  kid: string;
  /** Whether it is the one that signs. */
  signs: boolean;
  /** Of the first one there was, nobody knows. */
  signsSince?: string;
}

export async function listAccountKeys(store: Store): Promise<ShownKey[]> {
  return shown(keysIn(await sharedSecret<Kept>(store, name, async () => ({ key: newKey() }))));
}

/** Another key, which signs from then on; those that are there verify until they are dropped. */
export async function addAccountKey(store: Store, from: Date): Promise<ShownKey[]> {
  const made = { pem: newKey(), from: from.getTime() };
  return await changed(store, (keys) => [...keys, made]);
}

/** Throws RangeError where it is not there, or signs, or is to. */
export async function dropAccountKey(store: Store, kid: string, now = Date.now()): Promise<ShownKey[]> {
  return await changed(store, (keys) => {
    const doomed = keys.find(({ pem }) => idOf(pem) === kid);
    if (doomed === undefined) throw new RangeError(`there is no key ${kid}`);
    const newer = keys.filter(({ from }) => from > doomed.from);
    const next = Math.min(...newer.map(({ from }) => from));
    if (newer.length === 0)
      throw new RangeError(`no key is newer than ${kid}: atoll token-keys rotate makes one`);
    if (next > now)
      throw new RangeError(
        `no newer key than ${kid} signs yet: one does from ${new Date(next).toISOString()}`,
      );
    return keys.filter((key) => key !== doomed);
  });
}

async function changed(store: Store, change: (keys: SigningKey[]) => SigningKey[]): Promise<ShownKey[]> {
  await loadAccountKeys(store);
  const kept = await changeSecret<Kept>(store, name, (before) => {
    const keys = change(keysIn(before));
    return { key: keys[0]?.pem ?? before.key, keys };
  });
  return shown(keysIn(kept));
}

function shown(keys: readonly SigningKey[], now = Date.now()): ShownKey[] {
  const newest = Math.max(...keys.map(({ from }) => from).filter((from) => from <= now));
  return keys.map(({ pem, from }) => ({
    kid: idOf(pem),
    signs: from === newest,
    ...(from > 0 && { signsSince: new Date(from).toISOString() }),
  }));
}

function idOf(pem: string): string {
  return new TokenKey(pem).id;
}

function keysIn({ key, keys }: Kept): SigningKey[] {
  return keys ?? [{ pem: key, from: 0 }];
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
