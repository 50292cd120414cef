import { randomUUID } from 'node:crypto';
import type { UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Authenticator } from '../plugins.ts';
import type { Address, Registry } from '../registry/types.ts';
import { bearerToken } from './bearer.ts';
import { type PublicKey, TokenKey } from './jwt.ts';

/** Who issues the tokens, and whom they are for unless they say so. */
export const issuer = 'https://kubernetes.default.svc';

/** In what is known of a ServiceAccount: the id of its logical cluster. kcp's name. */
export const clusterNameExtra = 'authentication.kcp.io/cluster-name';

export interface TokenFor {
  cluster: string;
  account: KubeObject;
  audiences: readonly string[];
  expirationSeconds: number;
  /** What the token dies with, beside its account. */
  bound?: { kind: 'Pod' | 'Secret' | 'Node'; object: KubeObject };
  now: Date;
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
  node?: Named;
  /** The id of the logical cluster whose account it is: it means nothing in another. kcp's name for it. */
  clusterName: string;
}

/**
 * Tokens of ServiceAccounts: signed, short-lived, and dead as soon as what they are bound to is gone.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
 */
export class ServiceAccountTokens {
  readonly #key: TokenKey;

  constructor(privateKeyPem: string) {
    this.#key = new TokenKey(privateKeyPem);
  }

  publicKey(): PublicKey {
    return this.#key.publicKey();
  }

  issue({ cluster, account, audiences, expirationSeconds, bound, now }: TokenFor): string {
    const { namespace = '', name = '' } = account.metadata;
    const seconds = Math.floor(now.getTime() / 1000);
    const claims: Private = {
      namespace,
      ...(bound && { [bound.kind.toLowerCase()]: named(bound.object) }),
      serviceaccount: named(account),
      clusterName: cluster,
    };
    return this.#key.sign({
      aud: audiences,
      exp: seconds + expirationSeconds,
      iat: seconds,
      iss: issuer,
      jti: randomUUID(),
      'kubernetes.io': claims,
      nbf: seconds,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
  }

  /**
   * Who a token is for in a logical cluster, as long as its account and what it is bound to are there. One of another
   * logical cluster is nobody's.
   */
  async userOf(
    token: string,
    cluster: string,
    registry: Registry,
    now: Date,
    audiences: readonly string[] = [issuer],
  ): Promise<UserInfo | undefined> {
    const claims = this.#key.verify(token);
    const own = claims?.['kubernetes.io'];
    if (claims === undefined || claims['iss'] !== issuer || !isRecord(own)) return undefined;
    const seconds = now.getTime() / 1000;
    if (Number(claims['exp']) < seconds || Number(claims['nbf']) > seconds + 1) return undefined;
    const meant =
      Array.isArray(claims['aud']) && claims['aud'].some((one) => audiences.includes(String(one)));
    const bound = own as unknown as Private;
    if (bound.clusterName !== cluster) return undefined;
    if (!meant || !(await isAlive(bound, registry))) return undefined;
    return userInfo(bound, String(claims['jti']));
  }

  authenticator(registry: Registry): Authenticator {
    return async (request, _peer, cluster) => {
      const match = /^([\w-]+\.[\w-]+\.[\w-]+)$/.exec(bearerToken(request) ?? '');
      return match?.[1] === undefined ? undefined : this.userOf(match[1], cluster, registry, new Date());
    };
  }
}

function named({ metadata }: KubeObject): Named {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

async function isAlive(own: Private, registry: Registry): Promise<boolean> {
  const at = { cluster: own.clusterName, group: '', namespace: own.namespace };
  const needed: [Address, Named][] = [
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
      'authentication.kubernetes.io/node-uid': [node.uid],
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
