import { randomUUID } from 'node:crypto';
import { isPath } from '../../cluster/logical.ts';
import { isLogicalClusterName, rootCluster } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { isRecord, strings } from '../../kube/untyped.ts';
import type { Authenticator } from '../plugins.ts';
import type { Address, Registry } from '../registry/types.ts';
import { bearerOf } from './bearer.ts';
import { apiAudiences, defaultIssuer, issuerOf, knownIssuers } from './issuer.ts';
import { type Claims, claimsIn, type PublicKey } from './jwt.ts';
import type { TokenKeys } from './keys.ts';
import { Remembered } from './remembered.ts';
import { isInSecret, secretClaims, secretTokenOf, secretUser } from './secret-token.ts';

/** What was revoked counts within a second, on every server. */
const rememberMs = 1_000;

/** In what is known of a ServiceAccount: the id of its logical cluster. kcp's name. */
export const clusterNameExtra = 'authentication.kcp.io/cluster-name';

export interface TokenFor {
  cluster: string;
  account: KubeObject;
  audiences: readonly string[];
  expirationSeconds: number;
  /** What the token dies with, beside its account. */
  bound?: {
    kind: 'Pod' | 'Secret' | 'Node';
    object: KubeObject;
    /** Of a Pod: where it is, which the token does not die with. */
    node?: KubeObject;
  };
  now: Date;
  /** Of the token; default: any. */
  id?: string;
}

interface Named {
  name: string;
  uid: string;
}

interface Private {
  namespace: string;
  serviceaccount: Named;
  pod?: Named;
  secret?: Named;
  /** Without a uid where nothing is known of it. */
  node?: Pick<Named, 'name'> & Partial<Named>;
  /** The id of the logical cluster whose account it is: it means nothing in another. kcp's name for it. */
  clusterName: string;
}

/** Who a token is for, and which of the audiences that were asked for it has. */
export interface Identified {
  user: UserInfo;
  audiences: string[];
  /** It lasts as long as the Secret that holds it, whose text is what counts. */
  inSecret?: true;
}

/**
 * Tokens of ServiceAccounts: signed, and dead within a second of what they are bound to.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
 */
export class ServiceAccountTokens {
  readonly #keys: TokenKeys;
  /** The issuer of root's: see issuerOf. */
  readonly base: string;

  constructor(keys: TokenKeys, base = defaultIssuer) {
    this.#keys = keys;
    this.base = base;
  }

  publicKeys(): Promise<PublicKey[]> {
    return this.#keys.publicKeys();
  }

  issue({ cluster, account, audiences, expirationSeconds, bound, now, id }: TokenFor): Promise<string> {
    const { namespace = '', name = '' } = account.metadata;
    const seconds = Math.floor(now.getTime() / 1000);
    const claims: Private = {
      namespace,
      ...(bound?.node && { node: onNode(bound.node) }),
      ...(bound && { [bound.kind.toLowerCase()]: named(bound.object) }),
      serviceaccount: named(account),
      clusterName: cluster,
    };
    return this.#keys.sign({
      aud: audiences,
      exp: seconds + expirationSeconds,
      iat: seconds,
      iss: issuerOf(this.base, cluster),
      jti: id ?? randomUUID(),
      'kubernetes.io': claims,
      nbf: seconds,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
  }

  /** One that lasts as long as the Secret that holds it. */
  issueInto(cluster: string, { metadata }: KubeObject, secret: string): Promise<string> {
    const { namespace = '', name = '', uid = '' } = metadata;
    return this.#keys.sign(secretClaims({ cluster, namespace, account: name, uid, secret }));
  }

  /**
   * Who a token is for in a logical cluster, as long as its account and what it is bound to are there, and for whom of
   * `audiences`; default: this server. One of another logical cluster is nobody's.
   */
  async identify(
    token: string,
    cluster: string,
    registry: Registry,
    now: Date,
    audiences: readonly string[] = apiAudiences(this.base, cluster),
  ): Promise<Identified | undefined> {
    const claims = await this.#keys.verify(token);
    if (claims === undefined) return undefined;
    const inSecret = secretTokenOf(claims);
    const meant = inSecret ? apiAudiences(this.base, cluster) : strings(claims['aud']);
    const both = audiences.filter((one) => meant.includes(one));
    if (both.length === 0) return undefined;
    if (inSecret) {
      const isGood = inSecret.cluster === cluster && (await isInSecret(token, inSecret, registry, now));
      return isGood
        ? { user: secretUser(inSecret, clusterNameExtra), audiences: both, inSecret: true }
        : undefined;
    }
    const bound = this.#boundIn(claims, cluster, now);
    if (bound === undefined || !(await isAlive(bound, registry))) return undefined;
    return { user: userInfo(bound, String(claims['jti'])), audiences: both };
  }

  #boundIn(claims: Claims, cluster: string, now: Date): Private | undefined {
    const own = claims['kubernetes.io'];
    if (!isRecord(own) || own['clusterName'] !== cluster) return undefined;
    if (!knownIssuers(this.base, cluster).includes(String(claims['iss']))) return undefined;
    const seconds = now.getTime() / 1000;
    const isDue = Number(claims['exp']) >= seconds && Number(claims['nbf']) <= seconds + 1;
    return isDue ? (own as unknown as Private) : undefined;
  }

  /** The logical cluster, other than root, whose account's a token says that it is; nothing of it is verified. */
  homeOf(token: string): string | undefined {
    const claims = claimsIn(token);
    if (claims === undefined) return undefined;
    const inSecret = secretTokenOf(claims);
    const own = claims['kubernetes.io'];
    const cluster = inSecret?.cluster ?? (isRecord(own) ? own['clusterName'] : undefined);
    if (
      typeof cluster !== 'string' ||
      cluster === rootCluster ||
      !isLogicalClusterName(cluster) ||
      isPath(cluster)
    )
      return undefined;
    const isKnown =
      inSecret !== undefined || knownIssuers(this.base, cluster).includes(String(claims['iss']));
    return isKnown ? cluster : undefined;
  }

  /** Whoever a bound token names counts for a second before it is asked anew whether all that it needs is still there. */
  authenticator(registry: Registry, now: () => number = Date.now): Authenticator {
    const remembered = new Remembered<{ cluster: string; user: UserInfo }>(now);
    const identified = async (token: string, cluster: string): Promise<UserInfo | undefined> => {
      const found = await this.identify(token, cluster, registry, new Date(now()));
      if (found && !found.inSecret) remembered.put(token, { cluster, user: found.user }, rememberMs);
      return found?.user;
    };
    return (request, peer, cluster) => {
      const shown = bearerOf(request, peer);
      if (shown === undefined) return undefined;
      const { token, digest } = shown;
      const known = remembered.get(token, digest);
      if (known?.cluster === cluster) return known.user;
      return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? identified(token, cluster) : undefined;
    };
  }
}

function named({ metadata }: KubeObject): Named {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

function onNode({ metadata: { name = '', uid } }: KubeObject): NonNullable<Private['node']> {
  return { name, ...(uid && { uid }) };
}

async function isAlive(own: Private, registry: Registry): Promise<boolean> {
  const at = { cluster: own.clusterName, group: '', namespace: own.namespace };
  const needed: [Address, Partial<Named>][] = [
    [{ ...at, resource: 'serviceaccounts', name: own.serviceaccount.name }, own.serviceaccount],
  ];
  if (own.pod) needed.push([{ ...at, resource: 'pods', name: own.pod.name }, own.pod]);
  if (own.secret) needed.push([{ ...at, resource: 'secrets', name: own.secret.name }, own.secret]);
  if (own.node && !own.pod) {
    needed.push([{ ...at, namespace: '', resource: 'nodes', name: own.node.name }, own.node]);
  }
  for (const [address, { uid }] of needed) {
    const object = await registry
      .get(address)
      .catch((error) => (isStatusError(error, 'NotFound') ? undefined : Promise.reject(error)));
    if (object === undefined || object.metadata.uid !== uid || isOver(object)) return false;
  }
  return true;
}

/** A minute after the time by which it should be gone. */
function isOver({ metadata: { deletionTimestamp } }: KubeObject): boolean {
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + 60_000 < Date.now();
}

function userInfo({ namespace, serviceaccount, pod, node, clusterName }: Private, jti: string): UserInfo {
  const extra = {
    'authentication.kubernetes.io/credential-id': [`JTI=${jti}`],
    [clusterNameExtra]: [clusterName],
    ...(node && {
      'authentication.kubernetes.io/node-name': [node.name],
      ...(node.uid && { 'authentication.kubernetes.io/node-uid': [node.uid] }),
    }),
    ...(pod && {
      'authentication.kubernetes.io/pod-name': [pod.name],
      'authentication.kubernetes.io/pod-uid': [pod.uid],
    }),
  };
  return {
    name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra,
  };
}
