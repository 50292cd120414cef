import { reflectedFrom } from '../../cluster/reflected.ts';
import { forbidden } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/** A Node of a physical cluster is shown, and changed where it is; one that a user made here is the user's. */
export const nodesAdmission: AdmissionPlugin = {
  name: 'Nodes',
  validate({ stored: { info }, old, user, name }) {
    if (info.group !== '' || info.resource !== 'nodes' || old === undefined) return;
    const [cluster] = reflectedFrom(old);
    if (cluster === undefined || isOwnController(user)) return;
    const why = `it is a node of physical cluster ${cluster}, shown here because pods run on it: change it there`;
    throw forbidden(info, name, why);
  },
};
