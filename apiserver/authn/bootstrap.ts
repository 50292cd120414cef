import { hash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { mapAt, textAt } from '../../kube/untyped.ts';
import type { Authenticator } from '../plugins.ts';
import type { Registry } from '../registry/types.ts';
import { bearerToken } from './bearer.ts';
import { scopesExtra } from './impersonate.ts';

const bootstrappers = 'system:bootstrappers';

/**
 * Tokens of Secrets in a logical cluster's kube-system: whoever has one is somebody there, and nobody elsewhere.
 * https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/
 */
export function bootstrapAuthenticator(registry: Registry): Authenticator {
  return (request, _peer, cluster) => {
    const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(bearerToken(request) ?? '') ?? [];
    if (id === undefined || secret === undefined || cluster === '' || cluster === '*') return undefined;
    const at = {
      cluster,
      group: '',
      resource: 'secrets',
      namespace: 'kube-system',
      name: `bootstrap-token-${id}`,
    };
    return registry.get(at).then(
      (found) => userOf(found, { id, secret, cluster, now: Date.now() }),
      (error: unknown) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      },
    );
  };
}

interface Shown {
  id: string;
  secret: string;
  cluster: string;
  now: number;
}

/** Whom the Secret makes of who shows the token: undefined for one that is wrong, over, or for something else. */
export function userOf(found: KubeObject, { id, secret, cluster, now }: Shown): UserInfo | undefined {
  const data = mapAt(found, 'data') ?? {};
  const said = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  if (found.metadata.deletionTimestamp !== undefined) return undefined;
  if (textAt(found, 'type') !== 'bootstrap.kubernetes.io/token' || said('token-id') !== id) return undefined;
  const isRight = isSame(said('token-secret'), secret);
  const isFor = said('usage-bootstrap-authentication') === 'true';
  if (!isRight || !isFor || isOver(said('expiration'), now)) return undefined;
  const groups = said('auth-extra-groups')
    .split(',')
    .filter((group) => group !== '');
  if (!groups.every((group) => /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group)))
    return undefined;
  return {
    name: `system:bootstrap:${id}`,
    groups: [...new Set([bootstrappers, ...groups])].sort(),
    extra: { [scopesExtra]: [`cluster:${cluster}`] },
  };
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is no time is over. */
function isOver(expiration: string, now: number): boolean {
  return expiration !== '' && !(rfc3339.test(expiration) && Date.parse(expiration) > now);
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
