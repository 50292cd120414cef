import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { isLater, type Later } from '../../kube/later.ts';
import type { Authenticator, Peer } from '../plugins.ts';
import { withKnown } from './known.ts';

/** Waits only for those who do not know at once. */
export function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  peer: Peer,
  cluster: string,
  from = 0,
): Later<UserInfo | undefined> {
  for (let i = from; i < authenticators.length; i++) {
    const answer = authenticators[i]?.(request, peer, cluster);
    if (isLater(answer)) {
      return answer.then((user) =>
        user ? withKnown(user) : authenticate(authenticators, request, peer, cluster, i + 1),
      );
    }
    if (answer !== undefined) return withKnown(answer);
  }
  return undefined;
}
