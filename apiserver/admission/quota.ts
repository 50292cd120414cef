import { andThen } from '../../kube/later.ts';
import { evaluatorFor, isUpdateCounted } from '../../kube/quota/index.ts';
import { isStatusError } from '../../kube/status.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { type Charged, ledgerOf } from './quota-ledger.ts';

/**
 * No more in a namespace than its ResourceQuotas say: what a write costs is charged to their status before it happens. What
 * was charged for a write that then failed, or is no longer used, whoever counts gives back: controller/quota/.
 * https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export const quotaAdmission: AdmissionPlugin = {
  name: 'ResourceQuota',
  validate(request) {
    const { operation, object, namespace, cluster, registry, stored } = request;
    if (namespace === '' || !object) return undefined;
    if (operation !== 'CREATE' && !(operation === 'UPDATE' && isUpdateCounted(stored.info))) return undefined;
    const quotas = registry.recent({ cluster, group: '', resource: 'resourcequotas', namespace });
    return andThen(quotas, (found) => (found.length > 0 ? chargeFor(request) : undefined));
  },
};

async function chargeFor(request: AdmissionRequest): Promise<void> {
  const { operation, subresource, object, old, stored, cluster, namespace, registry } = request;
  const evaluator = evaluatorFor(stored.info.group, stored.info.resource);
  if (!object || !evaluator) return;
  const change = { operation, subresource, object, old };
  if (!evaluator.handles(change)) return;
  // What is there already will not be made again.
  const dryRun = request.dryRun || (operation === 'CREATE' && (await isThere(request)));
  const charged: Charged = { request, change, evaluator, dryRun };
  await ledgerOf(registry).charge({ cluster, namespace }, charged);
}

async function isThere({ object, stored, cluster, namespace, registry }: AdmissionRequest): Promise<boolean> {
  const { group, resource } = stored.info;
  try {
    await registry.get({ cluster, group, resource, namespace, name: object?.metadata.name ?? '' });
    return true;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false;
    throw error;
  }
}
