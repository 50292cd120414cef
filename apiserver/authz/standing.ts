import type { UserInfo } from '../../kube/http.ts';
import { scopesExtra } from '../authn/impersonate.ts';
import { clusterNameExtra } from '../authn/service-account.ts';

/**
 * Who somebody is in a logical cluster: at home, where they count by what they are; a guest, who is known everywhere
 * and is somebody where a binding says so; or nobody, being of another one.
 */
export function standing({ extra }: UserInfo, cluster: string): 'home' | 'guest' | 'nobody' {
  const scopes = extra?.[scopesExtra];
  const own = extra?.[clusterNameExtra]?.[0];
  if (scopes === undefined && own === undefined) return 'guest';
  const isHome = scopes ? scopes.includes(`cluster:${cluster}`) : own === cluster;
  return isHome ? 'home' : 'nobody';
}

/** Where somebody is at home who is a guest nowhere; not a logical cluster where impersonated in several, one after another. */
export function homeOf({ extra }: UserInfo): string {
  return extra?.[clusterNameExtra]?.[0] ?? extra?.[scopesExtra]?.join() ?? '';
}
