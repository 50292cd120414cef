import type { UserInfo } from '../../kube/http.ts';
import { mastersGroup } from '../authz/masters.ts';

/** One of the server's own controllers, from inside: no certificate or token of such a name is ever given out. */
export function isOwnController({ name, groups }: UserInfo): boolean {
  return name.startsWith('system:atoll:') && groups.includes(mastersGroup);
}

/** This one of them. A name alone says nothing: whoever may be given certificates of any name could take it. */
export function isOwn(user: UserInfo, name: string): boolean {
  return user.name === name && isOwnController(user);
}
