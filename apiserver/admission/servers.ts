import { isServerName, rootCluster, serverLabel } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { forbidden } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/**
 * By these Leases the servers on one store know each other, and share out the physical clusters: one that somebody else wrote would be
 * given its part, and do nothing. See controller/members.ts.
 */
export const serversAdmission: AdmissionPlugin = {
  name: 'Servers',
  validate({ stored: { info }, cluster, namespace, name, object, user }) {
    if (info.group !== 'coordination.k8s.io' || info.resource !== 'leases' || object === undefined) return;
    if (cluster !== rootCluster || namespace !== 'kube-system' || isOwnController(user)) return;
    if (!isOfServer(object) && !isServerName(object.metadata.name ?? name)) return;
    throw forbidden(info, name, 'it says that a server is there, and is written by that server alone');
  },
};

function isOfServer({ metadata }: KubeObject): boolean {
  return metadata.labels?.[serverLabel] !== undefined;
}
