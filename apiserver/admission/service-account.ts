import { isStatusError } from '../../kube/status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../options.ts';
import { isWriteOf, refusal, specOf } from './pods.ts';

const fallback = 'default';

/**
 * A Pod runs as `default` unless it names another ServiceAccount, which must exist. Its token's volume is added
 * where the Pod really runs. https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
 */
export const serviceAccountAdmission: AdmissionPlugin = {
  name: 'ServiceAccount',
  mutate(request) {
    if (!isWriteOf(request, '', 'pods') || !request.object) return;
    const spec = specOf(request.object);
    if (!spec['serviceAccountName']) spec['serviceAccountName'] = spec['serviceAccount'] || fallback;
    spec['serviceAccount'] = spec['serviceAccountName'];
  },
  validate(request) {
    if (!isWriteOf(request, '', 'pods') || !request.object) return undefined;
    const name = String(specOf(request.object)['serviceAccountName'] ?? fallback);
    // A namespace's own is made in a moment, if it is not there yet.
    return name === fallback ? undefined : requireAccount(request, name);
  },
};

async function requireAccount(request: AdmissionRequest, name: string): Promise<void> {
  const { cluster, namespace, registry } = request;
  try {
    await registry.get({ cluster, group: '', resource: 'serviceaccounts', namespace, name });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
    throw refusal(request, why);
  }
}
