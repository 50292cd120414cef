import { splitterUser } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import { isOwn } from '../authn/controllers.ts';
import { mastersGroup } from '../authz/masters.ts';

export const syncersGroup = 'system:atoll:syncers';

/** Who the syncer of physical cluster `name` is: it reaches /syncers/<name>/ and nothing else. */
export function syncerUser(name: string): UserInfo {
  return { name: `system:atoll:syncer:${name}`, groups: [syncersGroup, 'system:authenticated'] };
}

/** Both the name and the group must fit: a client certificate that only borrows the name is refused. */
export function mayUseView(user: UserInfo, cluster: string): boolean {
  if (user.groups.includes(mastersGroup)) return true;
  return user.name === `system:atoll:syncer:${cluster}` && user.groups.includes(syncersGroup);
}

/** What a cluster has said is taken back by the splitter alone, which knows what it was said of. */
export function mayDrop(user: UserInfo): boolean {
  return isOwn(user, splitterUser);
}
