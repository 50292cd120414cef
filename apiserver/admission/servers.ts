import { heartbeatsLabel } from '../../cluster/heartbeats.ts';
import { isServerName, rootCluster, serverLabel } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { forbidden } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/**
 * By these Leases the servers on one store know each other, and share out the physical clusters: one that somebody else wrote would be
 * given its part, and do nothing; one that is deleted has its part given to others while its server works on. See controller/members.ts.
 * By others they say which clusters are there: one that somebody else wrote would have them there that are silent. See syncer/heartbeats.ts.
 */
export const serversAdmission: AdmissionPlugin = {
  name: 'Servers',
  validate({ stored: { info }, cluster, namespace, name, object, old, user }) {
    if (info.group !== 'coordination.k8s.io' || info.resource !== 'leases') return;
    if (cluster !== rootCluster || namespace !== 'kube-system' || isOwnController(user)) return;
    const called = object?.metadata.name ?? name;
    if (!isOfServer(object) && !isOfServer(old) && !isServerName(called)) return;
    throw forbidden(info, called, 'it says that a server is there, and is written by that server alone');
  },
};

function isOfServer(lease: KubeObject | undefined): boolean {
  const { labels = {} } = lease?.metadata ?? {};
  return labels[serverLabel] !== undefined || labels[heartbeatsLabel] !== undefined;
}
