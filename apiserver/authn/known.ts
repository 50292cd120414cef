import type { UserInfo } from '../../kube/http.ts';

const group = 'system:authenticated';

/** Who is known is one of all who are. */
export function withKnown(user: UserInfo): UserInfo {
  if (user.groups.includes(group)) return user;
  return { ...user, groups: [...user.groups, group] };
}
