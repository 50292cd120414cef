import type { UserInfo } from '../../kube/http.ts';
import { mastersGroup } from '../authz/masters.ts';

/** One of the server's own controllers. */
export function isOwnController({ name, groups }: UserInfo): boolean {
  return name.startsWith('system:atoll:') && groups.includes(mastersGroup);
}
