import { rootCluster } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import { homeOf, standing } from '../authz/standing.ts';

/** Of whose share a request is: who is nobody where it goes uses nothing of what those there have. Empty: root's. */
export function shareOf(user: UserInfo, cluster: string): string {
  const share = standing(user, cluster) === 'nobody' ? homeOf(user) : cluster;
  return share === rootCluster || share === '*' ? '' : share;
}
