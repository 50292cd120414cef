import { hash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { mapAt, text } from '../../kube/untyped.ts';
import type { Address, Registry } from '../registry/types.ts';
import type { Claims } from './jwt.ts';

/** Who issues the tokens in Secrets, whose audience is this server and which do not expire. */
export const secretIssuer = 'kubernetes/serviceaccount';

const claim = (name: string) => `kubernetes.io/serviceaccount/${name}`;
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';
const lastUsed = 'kubernetes.io/legacy-token-last-used';

export interface SecretToken {
  /** The id of the logical cluster whose account it is. */
  cluster: string;
  namespace: string;
  account: string;
  uid: string;
  secret: string;
}

export function secretClaims(of: SecretToken): Claims {
  return {
    iss: secretIssuer,
    [claim('namespace')]: of.namespace,
    [claim('secret.name')]: of.secret,
    [claim('service-account.name')]: of.account,
    [claim('service-account.uid')]: of.uid,
    [claim('clusterName')]: of.cluster,
    sub: `system:serviceaccount:${of.namespace}:${of.account}`,
  };
}

/** Undefined: it is another token. */
export function secretTokenOf(claims: Claims): SecretToken | undefined {
  if (claims['iss'] !== secretIssuer) return undefined;
  const said = (name: string) => text(claims[claim(name)]);
  const of = {
    cluster: said('clusterName'),
    namespace: said('namespace'),
    account: said('service-account.name'),
    uid: said('service-account.uid'),
    secret: said('secret.name'),
  };
  const isWhole = Object.values(of).every((value) => value !== '');
  return isWhole && claims['sub'] === `system:serviceaccount:${of.namespace}:${of.account}` ? of : undefined;
}

/**
 * Whether the Secret is there with this very token, and its account is. It says on which day its token was last used.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#auto-generated-legacy-serviceaccount-token-clean-up
 */
export async function isInSecret(
  token: string,
  of: SecretToken,
  registry: Registry,
  now: Date,
): Promise<boolean> {
  const at = { cluster: of.cluster, group: '', namespace: of.namespace };
  const address = { ...at, resource: 'secrets', name: of.secret };
  const secret = await find(registry, address);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return false;
  const held = Buffer.from(mapAt(secret, 'data')?.['token'] ?? '', 'base64').toString();
  if (!isSame(held, token)) return false;
  const account = await find(registry, { ...at, resource: 'serviceaccounts', name: of.account });
  if (account?.metadata.uid !== of.uid || account.metadata.deletionTimestamp !== undefined) return false;
  void noteUse(registry, address, secret, now).catch(() => undefined);
  return !secret.metadata.labels?.[invalidSince];
}

export function secretUser(
  { cluster, namespace, account, uid }: SecretToken,
  clusterExtra: string,
): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${account}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: { [clusterExtra]: [cluster] },
  };
}

/** One write a day for each Secret, whatever becomes of it. */
const noted = new Map<string, string>();
const mostNoted = 10_000;

async function noteUse(
  registry: Registry,
  address: Address,
  { metadata }: KubeObject,
  now: Date,
): Promise<void> {
  const today = now.toISOString().slice(0, 10);
  const { uid = '', labels } = metadata;
  // Servers on either side of the line of date do not undo each other.
  if ((labels?.[lastUsed] ?? '') >= today || noted.get(uid) === today) return;
  if (noted.size >= mostNoted) noted.clear();
  noted.set(uid, today);
  await registry.update(address, (current) =>
    current.metadata.uid === uid
      ? {
          ...current,
          metadata: { ...current.metadata, labels: { ...current.metadata.labels, [lastUsed]: today } },
        }
      : current,
  );
}

async function find(registry: Registry, address: Address): Promise<KubeObject | undefined> {
  try {
    return await registry.get(address);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
